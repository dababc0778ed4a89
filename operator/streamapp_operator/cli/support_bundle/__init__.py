"""What `streamapp bundle` writes: what is read of an app, what is hidden of it, and the archive.

Secrets are never read here. Everything that is written passes `bundle_redaction`, with one table of rules. A
module of this room imports no command.
"""
