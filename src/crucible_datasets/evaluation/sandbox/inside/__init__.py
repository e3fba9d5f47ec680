"""The code that runs inside a box: a bare interpreter, from which candidates and their examiners are forked.

It imports only the standard library. The fork server passes files on without reading them, so no test is ever in the
memory that a candidate inherits.

    forkserver namespaces occupant (process set-up) · syscalls kernel descriptors
    program (a script, or code together with tests) · candidate examiner link values errors (code apart from tests)
"""
