"""Mathematical equality of answers: a fast path, then math-verify in a process with limits.

equivalence judgement · plain forms (fast path) · workers worker (math-verify)
"""
