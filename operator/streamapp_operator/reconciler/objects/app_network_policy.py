"""The NetworkPolicy of an app: who may reach its pods, and what its pods may reach.

Policies add up: one that a team makes beside it for the same pods opens more, and never closes anything.
"""

from typing import Any, Final

from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.installation import AppNetworkRules
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.driver_service import METRICS, UI
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, metadata_for

_WHOLE_CLUSTER: Final[tuple[dict[str, Any], ...]] = ({"namespaceSelector": {}},)
_DNS: Final = {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}


def app_network_policy(app: Manifest, rules: AppNetworkRules) -> Manifest:
    """The policy. Pods of the app reach each other; others reach what the installation's rules let them."""
    name = app["metadata"]["name"]
    own_pods = {"podSelector": {"matchLabels": {APP_LABEL: name}}}
    ingress: list[dict[str, Any]] = [
        {"from": [own_pods]},
        {"from": list(rules.scrapers or _WHOLE_CLUSTER), "ports": [_tcp(METRICS)]},
    ]
    if rules.viewers:
        ingress.append({"from": list(rules.viewers), "ports": [_tcp(UI)]})
    spec: dict[str, Any] = {**own_pods, "policyTypes": ["Ingress"], "ingress": ingress}
    if rules.egress:
        spec["policyTypes"].append("Egress")
        spec["egress"] = [_DNS, {"to": [own_pods]}, *rules.egress]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata_for(app, object_names.network_policy(name), ObjectRole.NETWORK),
        "spec": spec,
    }


def _tcp(port: int) -> dict[str, Any]:
    return {"protocol": "TCP", "port": port}
