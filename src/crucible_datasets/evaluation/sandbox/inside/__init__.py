"""What runs in the box: a bare interpreter, of which candidates and their examiners are copies.

Nothing here imports more than the standard library, and no text of a test ever lies in the memory that a candidate is
a copy of: the fork server hands over files unread.

    forkserver namespaces occupant · syscalls kernel descriptors · candidate examiner link values (who may say what)
"""
