"""Stage 4 of 6: Arrow tables seen through row indices.

view          `View`: a table, row indices, features, format and fingerprint
table         `Table`, the interface; Arrow data in memory, and columns side by side; stack: tables stacked by rows
rows          row indices; gather, addresses, memory: how scattered rows are collected
files, writing        memory-mapped Arrow files, and how they are written
parquet       Parquet files read in place: footers, rowgroups, budget (memory), spill (disk)
tar           tar archives read in place: tarfiles, tarindex, tarcells
statistics, pruning   row groups that need not be read
portable      tables in a form that other machines can read
"""

from typing import TYPE_CHECKING

if not TYPE_CHECKING:
    from crucible_datasets.lazy_imports import submodules

    __getattr__ = submodules(__name__)
