"""The job model: which task owns what and who runs it, its rules, its hash and its compact form."""
