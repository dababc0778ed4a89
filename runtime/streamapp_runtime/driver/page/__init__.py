"""The page of a running app: what it shows at one moment, its history of 15 minutes, and how both are served.

Reads what listeners of a run are told; changes nothing. May import what `reporting` may, and `reporting`.
"""
