"""The verbs of the `streamapp` command that need the runtime: thin, over its parts."""
