"""The `streamapp` command: thin verbs over the rules."""
