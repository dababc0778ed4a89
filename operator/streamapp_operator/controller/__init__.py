"""The parts that every Kubernetes controller has, apart from the reconcile itself.

Client, watches with a cache, work queue, leader election, RBAC, telemetry and the process. The room knows the
kind StreamApp and its labels but no rule about apps, and does not import `reconciler`.
"""
