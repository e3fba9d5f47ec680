"""The cache: results that later runs find again, as folders named after their content, each complete or absent.

store            `Cache`: find an entry, make it, clean up
manifest         the files of an entry, with sizes and hashes
claims           one process makes an entry while others wait
parts, partial   entries made in parts, which survive a kill
in_use, ledger   which entries are in use; the total size
units            sizes and ages as text
"""

from crucible_datasets.cache.manifest import Damage, Entry
from crucible_datasets.cache.parts import Parts
from crucible_datasets.cache.store import Cache, default_cache

__all__ = ["Cache", "Damage", "Entry", "Parts", "default_cache"]
