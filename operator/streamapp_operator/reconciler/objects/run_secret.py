"""The Secret of one run: driver and executors know each other by it. It goes with the driver's pod."""

import secrets
from base64 import b64encode
from typing import Final

from streamapp.protocol.run_authentication import RUN_AUTH_FILE
from streamapp_operator.controller.client.labels import APP_LABEL, ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import object_names

_BYTES: Final = 32


def run_secret(driver: Manifest) -> Manifest:
    """A Secret that nobody has seen before, owned by the pod of the driver."""
    metadata = driver["metadata"]
    labels = {
        name: metadata["labels"][name] for name in (APP_LABEL, ROLE_LABEL) if name in metadata["labels"]
    }
    owner = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": object_names.run_secret(metadata["name"]),
            "namespace": metadata["namespace"],
            "labels": labels,
            "ownerReferences": [owner],
        },
        "immutable": True,
        "data": {RUN_AUTH_FILE: b64encode(secrets.token_bytes(_BYTES)).decode()},
    }
