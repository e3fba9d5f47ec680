"""A benchmark by its name, as typed samples.

load        `load_benchmark`, and its results `Benchmark` and `StreamedBenchmark`
origins     sources of rows: the Hub, a folder, the miniature
naming      data by a short text: `mmlu:astronomy:test`
pieces      selection of configurations, splits and rows
converting  rows → fields of samples, by the entry and its rules; the types of the samples' columns
"""
