"""The registry of benchmarks.

entries/  one TOML file per benchmark
registry  `BenchmarkEntry`, the content of such a file, and `Catalog`: files of this package, of installed packages, and
          of users' folders
"""
