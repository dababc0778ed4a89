"""Secrets of the systems: mounted, never copied into an object, a variable or a log."""

from typing import Any

from streamapp.spec.resource.app import StreamApp

SECRETS_MOUNT = "/etc/streamapp/secrets"


def secret_volumes(app: StreamApp) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A volume for each system with a secret, mounted at a folder of the system's name."""
    secrets = [
        (system.name, system.config_secret.name) for system in app.spec.systems if system.config_secret
    ]
    volumes = [
        {"name": f"streamapp-secret-{index}", "secret": {"secretName": secret, "defaultMode": 0o440}}
        for index, (_, secret) in enumerate(secrets)
    ]
    mounts = [
        {"name": f"streamapp-secret-{index}", "mountPath": f"{SECRETS_MOUNT}/{system}", "readOnly": True}
        for index, (system, _) in enumerate(secrets)
    ]
    return volumes, mounts
