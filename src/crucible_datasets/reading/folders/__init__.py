"""Folders of media as datasets: a file is a row, folders are labels, metadata files add columns.

    contents    the files of a split: media, metadata, members of archives
    filenames   columns of metadata that name files → columns of media
    metadata    the metadata files of all splits → tables of one type
    rows        contents, labels and metadata → the table of a split
    filling     bytes of media that have no local path
    views       tables → views and streams: allowed folders, downloads, fingerprints

Media files are not opened here: columns have paths, and `features` read and decode values on access. Only media without
a path (members of tar archives, remote files of a stream) are read into rows.
"""
