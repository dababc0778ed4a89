"""In which namespace replicas agree on who leads."""

from pathlib import Path

from streamapp_operator.controller.manager.operator_options import OperatorOptions

_OF_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")


def lease_namespace(options: OperatorOptions) -> str:
    """The one that is named, that this pod runs in, or that is watched."""
    if options.lease_namespace:
        return options.lease_namespace
    if not options.kubeconfig and _OF_POD.exists():
        return _OF_POD.read_text(encoding="utf-8").strip()
    return options.namespaces[0] if options.namespaces else "default"
