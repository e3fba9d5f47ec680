"""`Hasher`: digests of any Python value that agree between processes, without pickling anything."""

from crucible_datasets.hashing.functions import Arguments
from crucible_datasets.hashing.hasher import Hasher
from crucible_datasets.hashing.walk import UnhashableError

__all__ = ["Arguments", "Hasher", "UnhashableError"]
