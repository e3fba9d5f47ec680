"""The registry of benchmarks.

entries/  one TOML file per benchmark
entry     `BenchmarkEntry`, the content of such a file
groups    named groups of configurations: the STEM subjects of MMLU …
registry  `Catalog`: files of this package, of installed packages, and of users' folders
"""
