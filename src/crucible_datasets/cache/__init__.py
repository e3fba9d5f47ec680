"""Results that later runs find again: folders named by what they hold, whole or not there."""

from crucible_datasets.cache.manifest import Damage, Entry
from crucible_datasets.cache.parts import Parts
from crucible_datasets.cache.store import Cache, default_cache

__all__ = ["Cache", "Damage", "Entry", "Parts", "default_cache"]
