"""Speed comparison of Hugging Face `datasets` and Crucible Datasets on the same rows.

    data        generates the rows once, from a seed
    file_data   the same rows as Parquet, JSON Lines and CSV
    cases       the cases, and the required ratio of each
    expression_cases  the same for expressions and SQL, against functions
    evaluation_cases  the same for scores of predictions
    file_cases  the same for loading and writing files
    hub_cases   the same for datasets of a Hub
    map_cases   the same for functions over rows
    media_cases  the same for folders of media and decoding
    overlap_cases  the same for contamination checks
    statistics_cases  the same for the uncertainty of scores
    stream_cases  the same for streams
    viewer      pages of the viewer on a million rows, timed by a browser: `python -m benchmarks.viewer`
    floor       the same calls in bare pyarrow: a lower bound of the time
    measure     one case, one library, one fresh process
    report      numbers → one line of the table

`python -m benchmarks` runs both sides in turn and prints the table.
"""
