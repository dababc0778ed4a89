"""The operator's interface to a cluster: objects as JSON, every call with a time limit."""

from collections.abc import Callable
from typing import Literal, Protocol

from streamapp_operator.controller.client.api_errors import WriteConflict
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import ResourceKind


class ClusterClient(Protocol):
    """Reads and writes of objects in a cluster.

    Each call may raise `UnansweredError`, after which the reconcile is retried, or `RejectedError`, which a
    caller that can report the reason catches. Writes raise `LeadershipLostError` in a replica that does not
    lead.
    """

    async def read(self, kind: ResourceKind, namespace: str, name: str) -> Manifest | None:
        """The current state of one object; None if absent. Cluster-scoped kinds take the namespace ""."""
        ...

    async def read_metadata(self, kind: ResourceKind, namespace: str, name: str) -> Manifest | None:
        """The metadata of one object; None if absent. What else is in the object is not sent."""
        ...

    async def select(
        self, kind: ResourceKind, namespace: str | None, labels: dict[str, str]
    ) -> list[Manifest]:
        """The current state of all objects with these labels, in one namespace or in all watched ones."""
        ...

    async def warnings_about(self, pod: Manifest) -> list[Manifest]:
        """The events that warn of a pod; none where this account may not read them."""
        ...

    async def create(self, manifest: Manifest) -> Manifest | Literal[WriteConflict.EXISTS]:
        """Create an object; returns it with the API server's defaults."""
        ...

    async def try_create(self, manifest: Manifest) -> None:
        """Have the API server judge an object as if it were created; RejectedError where it is refused."""
        ...

    async def apply(
        self, manifest: Manifest, may_change: Callable[[Manifest], bool]
    ) -> Manifest | Literal[WriteConflict.EXISTS]:
        """Apply an object server-side: the operator owns the fields in it from then on.

        An object of this name that is there and that `may_change` denies is left alone.
        """
        ...

    async def patch_metadata(self, manifest: Manifest, metadata: Manifest) -> None:
        """Set these fields of the metadata of an object that was read, unless another one has its name."""
        ...

    async def delete(
        self,
        kind: ResourceKind,
        namespace: str,
        name: str,
        uid: str | None = None,
        grace_seconds: int | None = None,
    ) -> bool:
        """Delete an object, or only the one with this uid; returns whether it existed."""
        ...

    async def patch_status(
        self, app: Manifest, status: Manifest
    ) -> Manifest | Literal[WriteConflict.CONFLICT]:
        """Replace the app's status, if the app has not changed since it was read.

        An unchanged status is not written, and the app is returned as it was passed in.
        """
        ...

    async def scale(self, app: Manifest, processors: int) -> Literal[WriteConflict.CONFLICT] | None:
        """Set the app's number of processors, if the app has not changed since it was read."""
        ...

    async def event(
        self, app: Manifest, type_: Literal["Normal", "Warning"], reason: str, message: str
    ) -> None:
        """Record an event of the app; an event that cannot be written is dropped."""
        ...
