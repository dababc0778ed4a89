"""What the operator says of an app.

Conditions, phase, events and the pages about them, all from the findings. Pure; only `decide` and
`reconcile`, the commands and the page generator import it.
"""
