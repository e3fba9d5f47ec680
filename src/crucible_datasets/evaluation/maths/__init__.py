"""Whether two answers are the same in mathematics: a fast path of our own, then math-verify in a bounded process."""
