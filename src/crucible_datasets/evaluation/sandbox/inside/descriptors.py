"""The file descriptors of a boxed process, besides 0, 1 and 2."""

TEXT, LINK, RESULT, TROUBLE = 3, 4, 5, 6
