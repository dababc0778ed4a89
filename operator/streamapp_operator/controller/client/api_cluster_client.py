"""The cluster client for a real API server."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from streamapp_operator.controller.client.api_errors import (
    FORBIDDEN,
    ClusterError,
    LeadershipLostError,
    RejectedError,
    UnansweredError,
    WriteConflict,
)
from streamapp_operator.controller.client.api_requests import (
    REQUEST_SECONDS,
    ApiReply,
    ApiRequest,
    ApiTransport,
)
from streamapp_operator.controller.client.apply_diff import contains, is_applied
from streamapp_operator.controller.client.event_objects import event_object, repeated_event
from streamapp_operator.controller.client.manifest import Manifest, collection_path, object_path
from streamapp_operator.controller.client.resource_kinds import EVENT, STREAM_APP, ResourceKind, Verb, kind_of

FIELD_MANAGER = "streamapp-operator"
"""The name of the operator's entries in `managedFields`."""
LIST_LIMIT = 500
UNPROCESSABLE = 422
_FIELD_MANAGER_QUERY = (("fieldManager", FIELD_MANAGER),)
_JSON_PATCH = "application/json-patch+json"
_METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
_NAMES_ONLY = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"


@dataclass(frozen=True, slots=True)
class ApiClusterClient:
    """`ClusterClient` that sends requests to an API server."""

    transport: ApiTransport
    namespaces: Sequence[str]  # the watched namespaces; empty: all
    may_write_for: Callable[[], float]  # seconds for which this replica is certain to lead
    now: Callable[[], datetime]  # of the API server

    def seconds(self) -> float:
        """The API server's time in seconds since 1970."""
        return self.now().timestamp()

    async def read(self, kind: ResourceKind, namespace: str, name: str) -> Manifest | None:
        """The current state of one object; None where there is none."""
        reply = await self.transport.send(
            ApiRequest(Verb.GET, "GET", object_path(kind, namespace, name), expected=(404,))
        )
        return None if reply.code == 404 else reply.body

    async def read_metadata(self, kind: ResourceKind, namespace: str, name: str) -> Manifest | None:
        """The metadata of one object; None where there is none."""
        path = object_path(kind, namespace, name)
        request = ApiRequest(Verb.GET, "GET", path, accept=_METADATA, expected=(404,))
        reply = await self.transport.send(request)
        return None if reply.code == 404 else reply.body

    async def select(
        self, kind: ResourceKind, namespace: str | None, labels: dict[str, str]
    ) -> list[Manifest]:
        """The current state of all objects with these labels."""
        selector = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
        return [manifest async for manifest in self.list_objects(kind, namespace, selector)]

    async def warnings_about(self, pod: Manifest) -> list[Manifest]:
        """The events that warn of a pod."""
        fields = {"involvedObject.uid": pod["metadata"]["uid"], "type": "Warning"}
        selector = ",".join(f"{name}={value}" for name, value in fields.items())
        path = collection_path(EVENT, pod["metadata"]["namespace"])
        query = (("limit", str(LIST_LIMIT)), ("fieldSelector", selector))
        reply = await self.transport.send(ApiRequest(Verb.LIST, "GET", path, query, expected=(FORBIDDEN,)))
        return [] if reply.code == FORBIDDEN else list(reply.body.get("items") or ())

    async def list_objects(
        self, kind: ResourceKind, namespace: str | None, selector: str = "", metadata_only: bool = False
    ) -> AsyncIterator[Manifest]:
        """The objects that match a label selector, read page by page."""
        namespaces: Sequence[str | None] = [namespace] if namespace is not None else self.namespaces or [None]
        for namespace_name in namespaces:
            async for manifest in self._list_pages(
                collection_path(kind, namespace_name), selector, metadata_only
            ):
                yield {"apiVersion": kind.api_version, "kind": kind.name} | manifest

    async def _list_pages(self, path: str, selector: str, metadata_only: bool) -> AsyncIterator[Manifest]:
        selection = (("limit", str(LIST_LIMIT)), *((("labelSelector", selector),) if selector else ()))
        accept = _NAMES_ONLY if metadata_only else "application/json"
        continue_token = ""
        while True:
            query = (*selection, ("continue", continue_token)) if continue_token else selection
            reply = await self.transport.send(
                ApiRequest(Verb.LIST, "GET", path, query, accept=accept, expected=(410,))
            )
            if reply.code == 410:  # the continue token expired; the caller has to list from the start
                raise UnansweredError(f"GET {path}: the list changed while it was read")
            for manifest in reply.body.get("items") or ():
                yield manifest
            continue_token = reply.body["metadata"].get("continue", "")
            if not continue_token:
                return

    async def create(self, manifest: Manifest) -> Manifest | Literal[WriteConflict.EXISTS]:
        """Create an object."""
        path = collection_path(kind_of(manifest), manifest["metadata"]["namespace"])
        reply = await self._write(
            ApiRequest(Verb.CREATE, "POST", path, _FIELD_MANAGER_QUERY, manifest, expected=(409,))
        )
        if reply.code != 409:
            return self._object(reply)
        if reply.reason == "AlreadyExists":
            return WriteConflict.EXISTS
        raise UnansweredError(f"POST {path}: {reply.body.get('message', reply.reason)}")

    async def try_create(self, manifest: Manifest) -> None:
        """Have the API server judge an object as if it were created; nothing is stored."""
        path = collection_path(kind_of(manifest), manifest["metadata"]["namespace"])
        query = (*_FIELD_MANAGER_QUERY, ("dryRun", "All"))
        await self._write(ApiRequest(Verb.CREATE, "POST", path, query, manifest, expected=(409,)))

    async def apply(
        self, manifest: Manifest, may_change: Callable[[Manifest], bool]
    ) -> Manifest | Literal[WriteConflict.EXISTS]:
        """Apply an object server-side, unless the cluster already has it like this."""
        kind, metadata = kind_of(manifest), manifest["metadata"]
        current = await self.read(kind, metadata["namespace"], metadata["name"])
        if current is not None:
            if not may_change(current):
                return WriteConflict.EXISTS
            if is_applied(manifest, current, FIELD_MANAGER):
                return current
            # Another object that takes the name meanwhile has another uid, and is refused.
            manifest = {**manifest, "metadata": {**metadata, "uid": current["metadata"]["uid"]}}
        path = object_path(kind, metadata["namespace"], metadata["name"])
        request = ApiRequest(
            Verb.PATCH,
            "PATCH",
            path,
            (*_FIELD_MANAGER_QUERY, ("force", "true")),
            manifest,
            "application/apply-patch+yaml",
        )
        try:
            applied = self._object(await self._write(request))
        except RejectedError as error:
            if current is None or error.code != UNPROCESSABLE:
                raise
            applied = current
        if current is None or contains(applied, manifest):
            return applied
        return await self._replace_content(path, manifest)

    async def patch_metadata(self, manifest: Manifest, metadata: Manifest) -> None:
        """Set these fields of the metadata of an object that was read."""
        identity = manifest["metadata"]
        path = object_path(kind_of(manifest), identity["namespace"], identity["name"])
        body = {"metadata": {**metadata, "uid": identity["uid"]}}
        merge = "application/merge-patch+json"
        await self._write(
            ApiRequest(Verb.PATCH, "PATCH", path, _FIELD_MANAGER_QUERY, body, merge, expected=(404, 409))
        )

    async def _replace_content(self, path: str, manifest: Manifest) -> Manifest:
        """Set the fields of an object as they are wanted; an apply keeps what others added to a list."""
        content = {name: manifest[name] for name in manifest.keys() - {"apiVersion", "kind", "metadata"}}
        body = {**content, "metadata": {"uid": manifest["metadata"]["uid"]}}
        merge = "application/merge-patch+json"
        request = ApiRequest(Verb.PATCH, "PATCH", path, _FIELD_MANAGER_QUERY, body, merge)
        return self._object(await self._write(request))

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
        """Replace the app's status, if the app has not changed since it was read."""
        if app.get("status", {}) == status:
            return app
        step = {"op": "add", "path": "/status", "value": status}
        return await self._patch_read_app(app, step, _FIELD_MANAGER_QUERY, "/status")

    async def scale(self, app: Manifest, processors: int) -> Literal[WriteConflict.CONFLICT] | None:
        """Set the app's number of processors by its scale, if the app has not changed since it was read."""
        step = {"op": "add", "path": "/spec/replicas", "value": processors}
        reply = await self._patch_read_app(app, step, _FIELD_MANAGER_QUERY, "/scale")
        return WriteConflict.CONFLICT if reply is WriteConflict.CONFLICT else None

    async def replace_spec(
        self, app: Manifest, spec: Manifest, field_manager: str, *, dry_run: bool
    ) -> Manifest | Literal[WriteConflict.CONFLICT]:
        """Replace the app's spec, if that is still the one that was read; or have that judged alone.

        The status may have changed since, which says nothing about the spec.
        """
        metadata = app["metadata"]
        query = (("fieldManager", field_manager), *((("dryRun", "All"),) if dry_run else ()))
        steps = [
            {"op": "test", "path": f"/metadata/{name}", "value": metadata[name]}
            for name in ("uid", "generation")
        ]
        steps.append({"op": "replace", "path": "/spec", "value": spec})
        path = object_path(STREAM_APP, metadata["namespace"], metadata["name"])
        request = ApiRequest(Verb.PATCH, "PATCH", path, query, steps, _JSON_PATCH, expected=(404, 409))
        try:
            reply = await self._write(request)
        except RejectedError as error:
            if error.code != UNPROCESSABLE or await self._is_as_read(app):
                raise
            return WriteConflict.CONFLICT  # the test has failed
        return WriteConflict.CONFLICT if reply.code in (404, 409) else self._object(reply)

    async def _is_as_read(self, app: Manifest) -> bool:
        """True if an app is there with the spec that was read."""
        metadata = app["metadata"]
        current = await self.read_metadata(STREAM_APP, metadata["namespace"], metadata["name"])
        identity = ("uid", "generation")
        return current is not None and all(current["metadata"][name] == metadata[name] for name in identity)

    async def event(
        self, app: Manifest, type_: Literal["Normal", "Warning"], reason: str, message: str
    ) -> None:
        """Record an event of the app; a repeated event raises the count of the first one."""
        event = event_object(app, type_, reason, message, self.now())
        try:
            if await self.create(event) is not WriteConflict.EXISTS:
                return
            metadata = event["metadata"]
            before = await self.read(EVENT, metadata["namespace"], metadata["name"])
            if before is not None:
                await self._write(
                    ApiRequest(
                        Verb.PATCH,
                        "PATCH",
                        object_path(EVENT, metadata["namespace"], metadata["name"]),
                        _FIELD_MANAGER_QUERY,
                        repeated_event(before, self.now()),
                        "application/merge-patch+json",
                    )
                )
        except LeadershipLostError:
            raise
        except ClusterError:
            return  # the transport counts it by its code; an event is not worth a failed reconcile

    async def _patch_read_app(
        self, app: Manifest, step: Manifest, query: tuple[tuple[str, str], ...], subresource: str = ""
    ) -> Manifest | Literal[WriteConflict.CONFLICT]:
        """Change one part of an app as it was read; a conflict where it has changed since, or is gone."""
        metadata = app["metadata"]
        path = object_path(STREAM_APP, metadata["namespace"], metadata["name"]) + subresource
        version = {"op": "replace", "path": "/metadata/resourceVersion", "value": metadata["resourceVersion"]}
        reply = await self._write(
            ApiRequest(Verb.PATCH, "PATCH", path, query, [version, step], _JSON_PATCH, expected=(404, 409))
        )
        return WriteConflict.CONFLICT if reply.code in (404, 409) else self._object(reply)

    async def _write(self, request: ApiRequest) -> ApiReply:
        """Send a write that ends, one way or the other, before another replica could lead."""
        seconds_left = self.may_write_for()
        if seconds_left <= 0:
            raise LeadershipLostError(f"{request.method} {request.path}: this replica does not lead")
        return await self.transport.send(request, min(REQUEST_SECONDS, seconds_left))

    def _object(self, reply: ApiReply) -> Manifest:
        if not isinstance(reply.body, dict):
            raise UnansweredError(f"the API server answered {reply.code} and no object")
        return reply.body
