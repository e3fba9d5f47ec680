"""Code of models, run where it can do no harm and cannot judge itself.

tasks running outputs limits · box boxes (seen from outside) · inside/
"""
