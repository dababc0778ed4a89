"""What a reconcile decided, the writes that follow from the findings.

And their execution against the cluster. Imports no `status`.
"""
