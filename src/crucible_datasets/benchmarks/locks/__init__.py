"""Lock files: the commits and hashes of the data of a project; loading with a lock fails if data has changed.

    entries   a locked dataset, and its changes since
    rowhash   the hash of any dataset's rows
    file      crucible.lock, read and written
    guard     loading with a lock
    making    `lock_datasets` and `check_lock`

Locks are never searched for automatically: see `guard.lock_of`.
"""
