"""Folders of media as datasets: a file is a row, folders are labels, metadata files add columns.

    contents    the files of a split: media, metadata, members of archives
    filenames   columns of metadata that name files → columns of media
    metadata    the metadata files of all splits → tables of one type
    rows        contents, labels and metadata → the table of a split
    filling     bytes for rows that no path leads to
    views       tables → views and streams: what may be opened, what is fetched when, what identifies them

Nothing here opens a media file: columns hold paths, and `features` read and decode what is looked at. Only what
cannot be reached by a path of its own (members of tar archives, files of a stream from elsewhere) is read into rows.
"""
