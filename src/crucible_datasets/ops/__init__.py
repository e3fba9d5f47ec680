"""Stage 5 of 6: functions from view to view, which the methods of `Dataset` call. Modules are imported on first use.

build, generate          views from Python objects, data frames and generators
read, convert, html      rows, batches and columns of a view; all rows as Python, Arrow or frames
rows, splitting, folds   which rows, in which order; train and test; cross-validation
columns, batching        select, rename, add, cast columns; operations that rewrite all rows
combine, interleaving    several views as one
groups, join, codes      group_by and join, on integer codes of keys
map, filter              users' functions (mapping) and expressions (expressions); cleanup: their cached results
save, saved, file_copies, shards    `save_to_disk` and its layout
export, through_pandas, blocks, destination    files of other formats, and where they are written
push                     `push_to_hub`, of the parts in pushing
sql, search, webdataset  DuckDB queries; search indexes; tar shards
interchange, clusters, tfdata, transport    Arrow streams; Ray, Dask and Spark; TensorFlow; other machines
"""

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from crucible_datasets.lazy_imports import submodules

    __getattr__ = submodules(__name__)
