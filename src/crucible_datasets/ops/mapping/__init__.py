"""How `map` and `filter` call users' functions: inputs, calls, results and their files.

blocks, lazy, lazy_media    rows that are read together; rows and batches that decode a column on first access
calls, user_functions, asynchronous    calling a function, collecting results, annotating errors
merging, outcomes, rowwise, batchwise, tables    results → columns that were added or changed
typing, equality, change_detection    the types of results, and whether they differ from the input
shards, runs                 one shard of a call, and the Arrow files with its results
running, remote              all shards: in this process, by workers, on other machines
result_schema, results       files of all shards → one result
result_cache, named_files    where results are stored
"""
