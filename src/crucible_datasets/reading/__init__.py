"""Stages 2 and 3 of 6: from a dataset's name to its files, their bytes, and views or streams of their rows.

What a name refers to
    resolve, resolved     name and arguments → the files of each split, their format and description
    access, place         tokens and revisions; local and remote folders
    card                  the README of a dataset; configs: which configuration is meant
    selection, data_files, patterns, braces, discover    which files belong to which split
    format_choice         the format of files, by their extensions; modes: enums of arguments
Bytes
    files                 one data file; background_downloads: files that are downloaded while others are read
    kept_footers          footers of Parquet files that are not downloaded
    compression; archives, zip, tar, sevenzip; archivenames, membernames    compressed and archived files
    spool, unpack         bytes set aside, and unpacked into folders
Rows
    request               how to read files, and which columns and rows of them
    reader                the splits of a dataset, each read on first use; verify: comparison with the card
    prepare               files → a view: in place, or converted (convert) to Arrow in the cache
    undamaged             the good rows of damaged files that are read in place
    missing_columns       columns that only some files have; splitfiles: several splits → files
    tar_views             tar archives read in place; sql_queries: database queries; from_files: `from_csv` and the like
    folders               folders of media with labels and metadata
Streams
    streaming             files → a stream; fileshards, blockshards, lineshards, csvshards, tarshards: files as shards
    linerows              JSON Lines → Python rows without Arrow
"""

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from crucible_datasets.lazy_imports import submodules

    __getattr__ = submodules(__name__)
