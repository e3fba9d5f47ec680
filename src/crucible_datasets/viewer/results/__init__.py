"""Pages of runs.

routes the pages runs comparing all runs, one run, several runs compared judging samples the outcome of each sample;
lists of samples, one sample
"""
