"""`Hasher`: digests of any Python value that are equal in all processes, without pickling."""

from crucible_datasets.hashing.functions import Arguments
from crucible_datasets.hashing.hasher import Hasher
from crucible_datasets.hashing.walk import UnhashableError

__all__ = ["Arguments", "Hasher", "UnhashableError"]
