"""What every Kubernetes controller has.

Client, watch with cache, work queue, leader election, rights, telemetry, process. It knows the kind StreamApp
and its labels but no rule of an app, and does not import `reconciler`.
"""
