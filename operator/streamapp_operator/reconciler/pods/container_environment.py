"""The environment of the app's containers: the user's variables and code."""

from typing import Any

from streamapp.protocol.log_settings import LogSettings
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.reconciler.installation import Installation

APPLICATION_ID_VARIABLE = "STREAMAPP_APPLICATION_ID"
CODE_VOLUME = "streamapp-code"
CODE_MOUNT = "/opt/streamapp/code"


def container_variables(app: StreamApp) -> list[dict[str, Any]]:
    """The variables of `spec.env` as a container's, and the path of the app's code."""
    variables = [entry.model_dump(mode="json", by_alias=True, exclude_none=True) for entry in app.spec.env]
    code_variables = [{"name": "PYTHONPATH", "value": CODE_MOUNT}] if app.spec.code else []
    variable_names = {entry["name"] for entry in variables}
    return [*variables, *(entry for entry in code_variables if entry["name"] not in variable_names)]


def log_variables(app: StreamApp, installation: Installation) -> list[dict[str, Any]]:
    """The variables that say what a process of the app logs, and whose lines they are."""
    settings = LogSettings.of(app.spec.logging, installation.logging)
    variables = {APPLICATION_ID_VARIABLE: app.application_id, **settings.variables()}
    return [{"name": name, "value": value} for name, value in variables.items()]


def code_volume(app: StreamApp) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The volume with the app's code and its mount; empty where the app has none."""
    if app.spec.code is None:
        return [], []
    volume = {"name": CODE_VOLUME, "configMap": {"name": app.spec.code.config_map}}
    return [volume], [{"name": CODE_VOLUME, "mountPath": CODE_MOUNT, "readOnly": True}]
