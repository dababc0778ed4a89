"""What the queue holds and one reconcile is about."""

from dataclasses import dataclass

from streamapp_operator.controller.client.manifest import Manifest


@dataclass(frozen=True, slots=True, order=True)
class AppKey:
    """One app by its namespace and name."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def key_of(app: Manifest) -> AppKey:
    """The key of a StreamApp object."""
    metadata = app["metadata"]
    return AppKey(metadata["namespace"], metadata["name"])
