"""The cache: results that later runs find again, as folders named after their content, each complete or absent."""

from crucible_datasets.cache.manifest import Damage, Entry
from crucible_datasets.cache.parts import Parts
from crucible_datasets.cache.store import Cache, default_cache

__all__ = ["Cache", "Damage", "Entry", "Parts", "default_cache"]
