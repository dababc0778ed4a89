"""Kubernetes objects as JSON, their keys and their paths."""

from dataclasses import dataclass
from typing import Any

from streamapp_operator.controller.client.resource_kinds import ResourceKind

Manifest = dict[str, Any]
"""Treated as immutable: a function never changes a manifest that is passed in."""


def collection_path(kind: ResourceKind, namespace: str | None) -> str:
    """The path of all objects of a kind, in one namespace or in all."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    within = f"/namespaces/{namespace}" if kind.namespaced and namespace is not None else ""
    return f"{root}{within}/{kind.plural}"


def object_path(kind: ResourceKind, namespace: str, name: str) -> str:
    """The path of one object."""
    return f"{collection_path(kind, namespace)}/{name}"


@dataclass(frozen=True, slots=True, order=True)
class AppKey:
    """The namespace and name of a StreamApp."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"
