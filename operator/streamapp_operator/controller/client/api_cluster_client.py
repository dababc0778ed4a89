"""The cluster behind a real API server."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from streamapp_operator.controller.client.api_errors import (
    ClusterError,
    LeadershipLostError,
    UnansweredError,
    WriteConflict,
)
from streamapp_operator.controller.client.api_requests import (
    REQUEST_SECONDS,
    ApiReply,
    ApiRequest,
    ApiTransport,
)
from streamapp_operator.controller.client.apply_diff import is_applied
from streamapp_operator.controller.client.event_objects import event_object, repeated_event
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.object_paths import collection_path, object_path
from streamapp_operator.controller.client.resource_kinds import EVENT, STREAM_APP, ResourceKind, Verb, kind_of

FIELD_MANAGER = "streamapp-operator"
"""Under this name our fields stand in `managedFields`."""
LIST_LIMIT = 500
_OURS = (("fieldManager", FIELD_MANAGER),)
_NAMES_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


@dataclass(frozen=True, slots=True)
class ApiClusterClient:
    """`Cluster` over calls to an API server."""

    calls: ApiTransport
    namespaces: Sequence[str]  # that are watched; none means all
    may_write_for: Callable[[], float]  # seconds for which this replica surely leads
    now: Callable[[], datetime]

    async def read(self, kind: ResourceKind, namespace: str, name: str) -> Manifest | None:
        """One object as it is now."""
        reply = await self.calls.send(
            ApiRequest(Verb.GET, "GET", object_path(kind, namespace, name), expected=(404,))
        )
        return None if reply.code == 404 else reply.body

    async def select(
        self, kind: ResourceKind, namespace: str | None, labels: dict[str, str]
    ) -> list[Manifest]:
        """All objects with these labels."""
        selector = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
        return [found async for found in self.listed(kind, namespace, selector)]

    async def listed(
        self, kind: ResourceKind, namespace: str | None, selector: str = "", metadata_only: bool = False
    ) -> AsyncIterator[Manifest]:
        """Objects by a label selector, in chunks."""
        places: Sequence[str | None] = [namespace] if namespace is not None else self.namespaces or [None]
        for place in places:
            async for found in self._listed(collection_path(kind, place), selector, metadata_only):
                yield {"apiVersion": kind.api_version, "kind": kind.name} | found

    async def _listed(self, path: str, selector: str, metadata_only: bool) -> AsyncIterator[Manifest]:
        wanted = (("limit", str(LIST_LIMIT)), *((("labelSelector", selector),) if selector else ()))
        accept = _NAMES_ONLY if metadata_only else "application/json"
        following = ""
        while True:
            query = (*wanted, ("continue", following)) if following else wanted
            reply = await self.calls.send(
                ApiRequest(Verb.LIST, "GET", path, query, accept=accept, expected=(410,))
            )
            if reply.code == 410:  # the rest of this list is too old; whoever asked begins anew
                raise UnansweredError(f"GET {path}: the list changed while it was read")
            for found in reply.body.get("items") or ():
                yield found
            following = reply.body["metadata"].get("continue", "")
            if not following:
                return

    async def create(self, manifest: Manifest) -> Manifest | Literal[WriteConflict.EXISTS]:
        """Make an object."""
        path = collection_path(kind_of(manifest), manifest["metadata"]["namespace"])
        reply = await self._write(ApiRequest(Verb.CREATE, "POST", path, _OURS, manifest, expected=(409,)))
        if reply.code != 409:
            return self._object(reply)
        if reply.reason == "AlreadyExists":
            return WriteConflict.EXISTS
        raise UnansweredError(f"POST {path}: {reply.body.get('message', reply.reason)}")

    async def apply(self, manifest: Manifest) -> Manifest:
        """Make it so by server-side apply, unless it is so."""
        kind, metadata = kind_of(manifest), manifest["metadata"]
        there = await self.read(kind, metadata["namespace"], metadata["name"])
        if there is not None and is_applied(manifest, there, FIELD_MANAGER):
            return there
        path = object_path(kind, metadata["namespace"], metadata["name"])
        call = ApiRequest(
            Verb.PATCH, "PATCH", path, (*_OURS, ("force", "true")), manifest, "application/apply-patch+yaml"
        )
        return self._object(await self._write(call))

    async def delete(
        self,
        kind: ResourceKind,
        namespace: str,
        name: str,
        uid: str | None = None,
        grace_seconds: int | None = None,
    ) -> bool:
        """Delete an object, or only the one with this uid."""
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions"}
        options |= {"propagationPolicy": "Background"}
        options |= {"preconditions": {"uid": uid}} if uid else {}
        options |= {"gracePeriodSeconds": grace_seconds} if grace_seconds is not None else {}
        path = object_path(kind, namespace, name)
        reply = await self._write(ApiRequest(Verb.DELETE, "DELETE", path, (), options, expected=(404, 409)))
        return reply.code not in (404, 409)

    async def patch_status(
        self, app: Manifest, status: Manifest
    ) -> Manifest | Literal[WriteConflict.CONFLICT]:
        """Put this status in place of the app's, if the app is still as it was read."""
        if app.get("status", {}) == status:
            return app
        metadata = app["metadata"]
        path = f"{object_path(STREAM_APP, metadata['namespace'], metadata['name'])}/status"
        steps = [
            {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]},
            {"op": "add", "path": "/status", "value": status},
        ]
        call = ApiRequest(
            Verb.PATCH, "PATCH", path, _OURS, steps, "application/json-patch+json", expected=(404, 409)
        )
        reply = await self._write(call)
        return WriteConflict.CONFLICT if reply.code in (404, 409) else self._object(reply)

    async def event(
        self, app: Manifest, type_: Literal["Normal", "Warning"], reason: str, message: str
    ) -> None:
        """Tell something of the app; what is told again is counted on the first telling."""
        told = event_object(app, type_, reason, message, self.now())
        try:
            if await self.create(told) is not WriteConflict.EXISTS:
                return
            metadata = told["metadata"]
            before = await self.read(EVENT, metadata["namespace"], metadata["name"])
            if before is not None:
                await self._write(
                    ApiRequest(
                        Verb.PATCH,
                        "PATCH",
                        object_path(EVENT, metadata["namespace"], metadata["name"]),
                        _OURS,
                        repeated_event(before, self.now()),
                        "application/merge-patch+json",
                    )
                )
        except LeadershipLostError:
            raise
        except ClusterError:
            return  # counted by its code; an event is never worth a reconcile

    async def _write(self, call: ApiRequest) -> ApiReply:
        """A write ends before another replica could lead, whatever becomes of it."""
        left = self.may_write_for()
        if left <= 0:
            raise LeadershipLostError(f"{call.method} {call.path}: this replica does not lead")
        return await self.calls.send(call, min(REQUEST_SECONDS, left))

    def _object(self, reply: ApiReply) -> Manifest:
        if not isinstance(reply.body, dict):
            raise UnansweredError(f"the API server answered {reply.code} and no object")
        return reply.body
