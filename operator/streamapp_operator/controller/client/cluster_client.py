"""The cluster as the operator uses it: objects as they are in JSON, every call bounded in time."""

from typing import Literal, Protocol

from streamapp_operator.controller.client.api_errors import WriteConflict
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import ResourceKind


class ClusterClient(Protocol):
    """What steps do to a cluster.

    Each call may raise `UnansweredError` (the queue tries the reconcile again later) or `RejectedError`
    (a step that can tell the user why catches it). Calls that write raise `LeadershipLostError` in a
    replica that does not lead.
    """

    async def read(self, kind: ResourceKind, namespace: str, name: str) -> Manifest | None:
        """One object as it is now; nothing where there is none. For a kind without namespaces, give ""."""
        ...

    async def select(
        self, kind: ResourceKind, namespace: str | None, labels: dict[str, str]
    ) -> list[Manifest]:
        """All objects with these labels as they are now, of one namespace or of all that are watched."""
        ...

    async def create(self, manifest: Manifest) -> Manifest | Literal[WriteConflict.EXISTS]:
        """Make an object; as the API server filled it in."""
        ...

    async def apply(self, manifest: Manifest) -> Manifest:
        """Make it so by server-side apply: fields that are given are ours from then on."""
        ...

    async def delete(
        self,
        kind: ResourceKind,
        namespace: str,
        name: str,
        uid: str | None = None,
        grace_seconds: int | None = None,
    ) -> bool:
        """Delete an object, or only the one with this uid; whether it was there."""
        ...

    async def patch_status(
        self, app: Manifest, status: Manifest
    ) -> Manifest | Literal[WriteConflict.CONFLICT]:
        """Put this status in place of the app's, if the app is still as it was read.

        Where it is its status already nothing is written, and the app comes back.
        """
        ...

    async def event(
        self, app: Manifest, type_: Literal["Normal", "Warning"], reason: str, message: str
    ) -> None:
        """Tell something of the app to whoever looks; one that cannot be told is dropped."""
        ...
