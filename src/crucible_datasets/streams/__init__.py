"""Stage 5 of 6, for streams: shards of Arrow batches pass through stages, and reading can resume at any row.

    stream       `Stream`: a stage, the features of its rows, and their format
    base         `Stage`, the interface; batch, python_rows: what passes between stages; cursor: a position in a stage
    operations, mixing    functions from stream to stream, which the methods of `IterableDataset` call
Sources
    source       `Source` and `Shard`; from_view, from_generator, from_memory, examples: what shards are made of
    fitting      rows that have other types than the first ones
Stages
    mapped, filtered, columns, taken, repeated, rebatched, decoded, shuffled, interleaved, concatenated
    function_stage, inputs, calls, pacing, failures    calls of users' functions
    round_robin, rng_state    used by stages that mix rows
Readers
    running      a stream while it is read; epochs: the epoch number
    states       what `state_dict` returns; identity: the data and steps that it belongs to
    sharing, dealt    how rows are divided among machines and workers
    prefetched   a thread that reads in advance; parallel: workers that process shards
Results
    output       rows and batches in a format; materialize: all rows as a view; export, pushing: files and the Hub
"""

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from crucible_datasets.lazy_imports import submodules

    __getattr__ = submodules(__name__)
