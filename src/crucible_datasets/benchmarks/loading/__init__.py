"""A benchmark by its name, as typed samples.

load        `load_benchmark`
benchmark   `Benchmark` and `StreamedBenchmark`: samples that know which benchmark they are of
origins     where the rows come from: the Hub, a folder, the miniature
pieces      which configurations, splits and rows of them
converting  rows → fields of samples, by the entry and its rules
shapes      the types of the samples' columns
naming      data by a short text: `mmlu:astronomy:test`
"""
