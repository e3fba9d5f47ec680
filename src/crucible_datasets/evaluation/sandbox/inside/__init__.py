"""The code that runs inside a box: a bare interpreter, from which candidates and their examiners are forked.

It imports only the standard library. The fork server passes files on without reading them, so no test is ever in the
memory that a candidate inherits.

    forkserver namespaces occupant (process set-up) · syscalls kernel descriptors · candidate examiner link values
"""
