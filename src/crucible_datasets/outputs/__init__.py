"""Stage 6 of 6: Arrow rows → objects of one library, one file per library."""
