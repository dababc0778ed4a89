"""What may be read next, as rules over values: positions, budgets, growths, bounded turns, side inputs.

Pure: no Spark, no files, no network.
"""
