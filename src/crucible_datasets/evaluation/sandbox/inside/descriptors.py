"""The file descriptors of a process in the box, besides 0, 1 and 2."""

TEXT, LINK, RESULT, TROUBLE = 3, 4, 5, 6
