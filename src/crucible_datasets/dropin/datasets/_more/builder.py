"""More of `datasets.builder`."""

from dataclasses import dataclass

from ..naming import INVALID_WINDOWS_CHARACTERS_IN_PATH

__all__ = ["INVALID_WINDOWS_CHARACTERS_IN_PATH", "InvalidConfigName", "Key"]

InvalidConfigName = ValueError


@dataclass(frozen=True)
class Key:
    """The place of a table among those of a builder: the number of its shard, and of the table in it."""

    original_shard_idx: int
    item_or_batch_idx: int
