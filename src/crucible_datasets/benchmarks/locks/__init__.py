"""Which data a project uses, to the byte: a file says it, and loading under it fails where something moved.

    entries   one dataset as it was when it was locked, and what moved since
    rowhash   the hash of any dataset's rows
    file      crucible.lock, read and written
    guard     loading under a lock
    making    `lock_datasets` and `check_lock`

Nothing looks for a lock by itself: see `guard.lock_of`.
"""
