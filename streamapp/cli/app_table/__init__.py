"""The live table of `streamapp top`: figures of apps, the table, the terminal, and pages on this machine.

It imports no verb, and nothing of a cluster: `streamapp_operator` reads those figures.
"""
