"""Rules over values for the next reads: positions, budgets, growths, bounded turns, side inputs.

Pure: no Spark, no files, no network.
"""
