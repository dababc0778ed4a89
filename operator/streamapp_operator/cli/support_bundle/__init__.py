"""The output of `streamapp bundle`: what is read of an app, what is hidden of it, and the archive.

Secrets are never read here. All that is written passes the rules of `streamapp.spec.redaction`. A module of
this room imports no command.
"""
