"""The environment of the app's containers: the user's variables and code, and what Spark's Python needs."""

from typing import Any

from streamapp.spec.resource.app import StreamApp

CODE_VOLUME = "streamapp-code"
CODE_MOUNT = "/opt/streamapp/code"


def container_variables(app: StreamApp) -> list[dict[str, Any]]:
    """The variables of `spec.env`, as a container takes them, and where the app's own code lies."""
    asked = [entry.model_dump(mode="json", by_alias=True, exclude_none=True) for entry in app.spec.env]
    own = [{"name": "PYTHONPATH", "value": CODE_MOUNT}] if app.spec.code else []
    named = {entry["name"] for entry in asked}
    return [*asked, *(entry for entry in own if entry["name"] not in named)]


def code_volume(app: StreamApp) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The volume with the app's own code and its mount; nothing where it has none."""
    if app.spec.code is None:
        return [], []
    volume = {"name": CODE_VOLUME, "configMap": {"name": app.spec.code.config_map}}
    return [volume], [{"name": CODE_VOLUME, "mountPath": CODE_MOUNT, "readOnly": True}]
