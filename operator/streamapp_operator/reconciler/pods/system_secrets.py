"""Secrets of the systems: mounted, never read into an object, a variable or a log."""

from typing import Any

from streamapp.spec.resource.app import StreamApp

SECRETS_MOUNT = "/etc/streamapp/secrets"


def secret_volumes(app: StreamApp) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """A volume per system that has a secret, at a folder of the system's name, and the mounts."""
    named = [
        (system.name, system.kafka.config_secret.name)
        for system in app.spec.systems
        if system.kafka and system.kafka.config_secret
    ]
    volumes = [
        {"name": f"streamapp-secret-{place}", "secret": {"secretName": secret, "defaultMode": 0o440}}
        for place, (_, secret) in enumerate(named)
    ]
    mounts = [
        {"name": f"streamapp-secret-{place}", "mountPath": f"{SECRETS_MOUNT}/{system}", "readOnly": True}
        for place, (system, _) in enumerate(named)
    ]
    return volumes, mounts
