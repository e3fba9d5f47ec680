"""What runs in the box: a bare interpreter, of which candidates and their examiners are copies.

Nothing here imports more than the standard library, and no text of a test ever lies in the memory that a candidate is
a copy of: the keeper hands over files unread.

    keeper room occupant · syscalls kernel places · candidate examiner link values (who may say what)
"""
