"""The part of its spec that an app's history keeps, and the spec that goes back to an earlier one.

As with a Deployment, whose history has the pod template alone, the fields by which people and autoscalers
operate an app are no part of it.
"""

from collections.abc import Mapping
from typing import Any, Final

from streamapp.spec.resource.app import API_VERSION, KIND, Spec, StreamApp
from streamapp.spec.resource.field_changes import changes
from streamapp.spec.serialization import as_data

OPERATED_FIELDS: Final = ("processors", "suspend", "restart_nonce", "reset_nonce", "revision_history_limit")
"""Fields of the spec that are no part of its history. A rollback leaves them as they are."""
_ALIASES: Final = tuple(str(Spec.model_fields[name].alias) for name in OPERATED_FIELDS)


def revised_app(app: StreamApp) -> StreamApp:
    """The app with what its history keeps alone: defaults stand in the other fields."""
    defaults = {name: Spec.model_fields[name].get_default() for name in OPERATED_FIELDS}
    metadata = type(app.metadata)(name=app.metadata.name, namespace=app.metadata.namespace)
    return app.model_copy(update={"metadata": metadata, "spec": app.spec.model_copy(update=defaults)})


def revision_data(app: StreamApp) -> dict[str, Any]:
    """The data of a revision: the spec without defaults."""
    return {"apiVersion": API_VERSION, "kind": KIND, "spec": as_data(revised_app(app))["spec"]}


def changed_fields(before: StreamApp, after: StreamApp) -> tuple[str, ...]:
    """The paths within the spec in which two revisions differ; entries of lists by their name."""
    differences = changes(revised_app(before), revised_app(after))
    return tuple(change.path.removeprefix("spec.") for change in differences)


def rolled_back(current: Mapping[str, Any], revision: Mapping[str, Any]) -> dict[str, Any]:
    """The spec of a revision, with the fields that are no part of it as the current spec has them."""
    operated = {name: current[name] for name in _ALIASES if name in current}
    return {**{name: value for name, value in revision.items() if name not in _ALIASES}, **operated}
