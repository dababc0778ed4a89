"""The driver pod of one incarnation, from the accepted template."""

from collections.abc import Mapping
from typing import Any

from streamapp_operator import naming
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.objects import service
from streamapp_operator.objects.driver_template import ACCEPTED, CONTAINER
from streamapp_operator.objects.merging import merged
from streamapp_operator.objects.owned import GENERATION, INCARNATION, Role, metadata


def driver_pod(app: Manifest, template: Mapping[str, Any], generation: int, incarnation: int) -> Manifest:
    """The pod in which an accepted generation runs."""
    name, namespace = app["metadata"]["name"], app["metadata"]["namespace"]
    pod = naming.driver(name, incarnation)
    own = metadata(
        app,
        pod,
        Role.DRIVER,
        more_labels={INCARNATION: str(incarnation), GENERATION: str(generation)},
    )
    started = [
        {"name": "STREAMAPP_INCARNATION", "value": str(incarnation)},
        {"name": "STREAMAPP_DRIVER_HOST", "value": service.driver_host(name, namespace, incarnation)},
    ]
    spec = {
        "hostname": pod,
        "volumes": [{"name": ACCEPTED, "configMap": {"name": naming.accepted(name, generation)}}],
        "containers": [{"name": CONTAINER, "env": started}],
    }
    return {"apiVersion": "v1", "kind": "Pod", **merged(template, {"metadata": own, "spec": spec})}


def incarnation_of(pod: Manifest) -> int:
    """Which incarnation a driver pod is."""
    return int(pod["metadata"]["labels"][INCARNATION])


def generation_of(pod: Manifest) -> int:
    """The accepted generation that a driver pod runs."""
    return int(pod["metadata"]["labels"][GENERATION])
