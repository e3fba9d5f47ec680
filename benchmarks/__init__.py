"""Side-by-side speed runs: Hugging Face `datasets` and Crucible Datasets on the same rows.

    data     generates the rows once, from a seed
    cases    what is measured, and the bar each case must clear
    floor    the same calls as bare pyarrow: how fast it could be
    measure  one case, one library, one fresh process
    report   numbers → one line of the table

`python -m benchmarks` runs both sides in turn and prints the table.
"""
