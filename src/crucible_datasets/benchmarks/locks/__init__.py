"""Lock files: the commits and hashes of the data of a project; loading with a lock fails if data has changed.

    file      crucible.lock, read and written; a locked dataset, and its changes since
    guard     loading with a lock
    making    `lock_datasets` and `check_lock`

Locks are never searched for automatically: see `guard.lock_of`.
"""
