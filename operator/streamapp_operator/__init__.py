"""The Kubernetes side: launches what `streamapp` describes and keeps it running.

`cli`, `host_state` and `trial` stand on `reconciler`, and that on `controller`; never the other way. It does
not import `streamapp_runtime`.
"""
