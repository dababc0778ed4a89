"""The volume with the secret by which the pods of one run know each other, and the setting for encryption."""

from collections.abc import Mapping
from typing import Any, Final

RUN_AUTH_VOLUME: Final = "streamapp-run-secret"
RUN_AUTH_FOLDER: Final = "/etc/streamapp/run"
RUN_AUTH_FILE: Final = "secret"
RPC_ENCRYPTION: Final = "spark.network.crypto.enabled"
"""The setting of Spark that has the pods of a run encrypt what they say to each other."""
_FILE_MODE: Final = 0o440
"""The group reads it: a pod that runs as another user than root has its volumes by its group."""


def run_auth_volume(secret: str) -> Mapping[str, Any]:
    """The volume of a pod that holds the Secret of a run."""
    return {"name": RUN_AUTH_VOLUME, "secret": {"secretName": secret, "defaultMode": _FILE_MODE}}


def run_auth_mount() -> Mapping[str, Any]:
    """The mount of that volume in a container."""
    return {"name": RUN_AUTH_VOLUME, "mountPath": RUN_AUTH_FOLDER, "readOnly": True}
