"""The key of an app: the work queue's item and the subject of one reconcile."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class AppKey:
    """The namespace and name of a StreamApp."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"
