"""Whether two answers are the same in mathematics: a fast path of our own, then math-verify in a bounded process.

equivalence judgement · plain forms (at once) · workers worker (math-verify, bounded)
"""
