"""How the arguments of a generator are shared out: lists are cut, all else is given to every part."""

from __future__ import annotations

from typing import Any

from crucible_datasets.streams.from_generator import shared_arguments
from crucible_datasets.tables.rows import shared_out


def _number_of_shards_in_gen_kwargs(gen_kwargs: dict[str, Any]) -> int:
    """How many elements the lists have."""
    return len(shared_arguments(gen_kwargs))


def _distribute_shards(num_shards: int, max_num_jobs: int) -> list[range]:
    """Which shards each of several jobs gets; none gets nothing."""
    return [shared_out(num_shards, jobs, job) for jobs in [min(num_shards, max_num_jobs)] for job in range(jobs)]


def _split_gen_kwargs(gen_kwargs: dict[str, Any], max_num_jobs: int) -> list[dict[str, Any]]:
    """The arguments of each of several jobs."""
    count = _number_of_shards_in_gen_kwargs(gen_kwargs)
    if count == 1:
        return [dict(gen_kwargs)]
    return [
        {
            name: [value[shard] for shard in shards] if isinstance(value, list) else value
            for name, value in gen_kwargs.items()
        }
        for shards in _distribute_shards(count, max_num_jobs)
    ]


def _merge_gen_kwargs(gen_kwargs_list: list[dict[str, Any]]) -> dict[str, Any]:
    """The arguments of several jobs as one."""
    first = gen_kwargs_list[0]
    return {
        name: [element for part in gen_kwargs_list for element in part[name]] if isinstance(value, list) else value
        for name, value in first.items()
    }
