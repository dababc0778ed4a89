"""URL paths of objects in the API."""

from streamapp_operator.controller.client.resource_kinds import ResourceKind


def collection_path(kind: ResourceKind, namespace: str | None) -> str:
    """The path of all objects of a kind, in one namespace or in all."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    within = f"/namespaces/{namespace}" if kind.namespaced and namespace is not None else ""
    return f"{root}{within}/{kind.plural}"


def object_path(kind: ResourceKind, namespace: str, name: str) -> str:
    """The path of one object."""
    return f"{collection_path(kind, namespace)}/{name}"
