"""The parts of `push_to_hub` (ops.push).

files    tables → Parquet files
count    rows that are on the Hub already and that no card counts
card     the card: files, features and sizes of each configuration
commit   the commit of a push, also if others commit at the same time
bucket   pushes to buckets, which have no commits
"""
