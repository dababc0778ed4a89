"""The Kubernetes operator: launches the apps that `streamapp` describes and keeps them running.

`cli`, `host_state` and `trial` import `reconciler`, and `reconciler` imports `controller`; never the other
way. The package does not import `streamapp_runtime`.
"""
