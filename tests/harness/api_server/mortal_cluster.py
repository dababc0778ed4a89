"""A cluster whose operator dies right after its nth write: what it had written stands, nothing follows."""

from collections.abc import Callable
from typing import Any, Literal

from streamapp_operator.controller.client.api_errors import WriteConflict
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import ResourceKind


class KilledError(BaseException):
    """The operator is no more; nothing in it may catch this."""


class Mortal:
    """Passes every call on, until its time has come."""

    def __init__(self, cluster: ClusterClient, writes: int) -> None:
        self._cluster = cluster
        self._left = writes
        self.written = 0

    def _living(self) -> None:
        if self._left <= 0:
            raise KilledError

    def _written(self, answer: Any) -> Any:
        self.written += 1
        self._left -= 1
        self._living()
        return answer

    async def read(self, kind: ResourceKind, namespace: str, name: str) -> Manifest | None:
        return await self._cluster.read(kind, namespace, name)

    async def read_metadata(self, kind: ResourceKind, namespace: str, name: str) -> Manifest | None:
        return await self._cluster.read_metadata(kind, namespace, name)

    async def select(
        self, kind: ResourceKind, namespace: str | None, labels: dict[str, str]
    ) -> list[Manifest]:
        return await self._cluster.select(kind, namespace, labels)

    async def create(self, manifest: Manifest) -> Manifest | Literal[WriteConflict.EXISTS]:
        self._living()
        found: Manifest | Literal[WriteConflict.EXISTS] = self._written(await self._cluster.create(manifest))
        return found

    async def try_create(self, manifest: Manifest) -> None:
        await self._cluster.try_create(manifest)

    async def apply(
        self, manifest: Manifest, may_change: Callable[[Manifest], bool]
    ) -> Manifest | Literal[WriteConflict.EXISTS]:
        self._living()
        found: Manifest | Literal[WriteConflict.EXISTS] = self._written(
            await self._cluster.apply(manifest, may_change)
        )
        return found

    async def delete(
        self,
        kind: ResourceKind,
        namespace: str,
        name: str,
        uid: str | None = None,
        grace_seconds: int | None = None,
    ) -> bool:
        self._living()
        return bool(self._written(await self._cluster.delete(kind, namespace, name, uid, grace_seconds)))

    async def patch_status(
        self, app: Manifest, status: Manifest
    ) -> Manifest | Literal[WriteConflict.CONFLICT]:
        self._living()
        answer = await self._cluster.patch_status(app, status)
        return answer if answer is app else self._written(answer)  # the same is not written

    async def event(
        self, app: Manifest, type_: Literal["Normal", "Warning"], reason: str, message: str
    ) -> None:
        await self._cluster.event(app, type_, reason, message)
