"""Stage 6 of 6: Arrow rows → what the user asked for, one file per kind of object."""
