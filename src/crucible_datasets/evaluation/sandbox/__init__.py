"""A sandbox for generated code and its tests. The code cannot influence the verdict.

tasks running outputs limits · box boxes (outside) · inside/
"""
