"""Tables that side inputs fill: when their stores are valid, where reading goes on, what waits for them.

Pure rules.
"""
