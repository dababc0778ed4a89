"""The headless Service of an app: gives each driver pod a host name for its executors."""

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, metadata_for, role_selector

RPC, BLOCKS, LANES, UI, METRICS = 7078, 7079, 7080, 4040, 9404
PORTS = {"driver-rpc": RPC, "blockmanager": BLOCKS, "lanes": LANES, "ui": UI, "metrics": METRICS}
"""Fixed, so that network policies can name them."""


def driver_service(app: Manifest) -> Manifest:
    """The Service. It publishes addresses of unready pods, since the driver waits for its executors first."""
    name = app["metadata"]["name"]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata_for(app, object_names.service(name), ObjectRole.DRIVER),
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": role_selector(name, ObjectRole.DRIVER),
            "ports": [
                {"name": port, "port": number, "targetPort": number, "protocol": "TCP"}
                for port, number in PORTS.items()
            ],
        },
    }


def driver_host(app: str, namespace: str, incarnation: int) -> str:
    """The host name of one driver pod, which no other incarnation shares."""
    return f"{object_names.driver(app, incarnation)}.{object_names.service(app)}.{namespace}.svc"
