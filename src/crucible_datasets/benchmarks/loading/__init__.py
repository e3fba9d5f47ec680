"""A benchmark by its name, as typed samples.

load        `load_benchmark`
benchmark   `Benchmark` and `StreamedBenchmark`: samples with the entry of their benchmark
origins     sources of rows: the Hub, a folder, the miniature
pieces      selection of configurations, splits and rows
converting  rows → fields of samples, by the entry and its rules
shapes      the types of the samples' columns
naming      data by a short text: `mmlu:astronomy:test`
"""
