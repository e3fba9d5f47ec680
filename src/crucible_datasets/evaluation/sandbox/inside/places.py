"""Under which numbers an occupant of a box finds its files. 0, 1 and 2 are as ever."""

TEXT, LINK, RESULT, TROUBLE = 3, 4, 5, 6
