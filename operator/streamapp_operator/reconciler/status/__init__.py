"""The status of an app.

Conditions, phase and events, all derived from the findings, and the reference pages about them. Pure; only
`decide`, `reconcile`, the commands and the generator of pages import it.
"""
