"""Which benchmarks there are.

entries/  one TOML file for each
entry     what such a file says
groups    configurations that go together: the STEM subjects of MMLU …
registry  `Catalog`: files of this package, of installed ones, and of folders of users
"""
