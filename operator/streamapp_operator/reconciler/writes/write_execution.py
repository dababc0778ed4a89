"""Executes the writes of a decision."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from streamapp_operator.controller.client.api_errors import RejectedError, WriteConflict
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import kind_of
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.facts.reported_texts import reported_text
from streamapp_operator.reconciler.objects.object_metadata import is_owned, may_change
from streamapp_operator.reconciler.writes.reconcile_decision import Apply, Create, Delete, Write


@dataclass(frozen=True, slots=True)
class ForeignObject:
    """An object with the name of an app's object and another owner, mostly a deleted app of the same name."""

    kind: str
    name: str


async def execute_writes(
    cluster: ClusterClient, app: Manifest, writes: Iterable[Write]
) -> ForeignObject | None:
    """Execute the writes in order; stop at the first foreign object and return it."""
    namespace = app["metadata"]["namespace"]
    for write in writes:
        match write:
            case Create(manifest=manifest):
                if await cluster.create(manifest) is WriteConflict.EXISTS:
                    foreign = await _foreign(cluster, app, manifest)
                    if foreign is not None:
                        return foreign
            case Apply(manifest=manifest, must_exist=must_exist):
                if must_exist and await _is_gone(cluster, manifest):
                    continue
                applied = await cluster.apply(manifest, partial(may_change, app=app))
                if applied is WriteConflict.EXISTS:
                    return ForeignObject(kind_of(manifest).name, manifest["metadata"]["name"])
            case Delete(kind=kind, name=name, uid=uid, grace_seconds=grace):
                await cluster.delete(kind, namespace, name, uid, grace)
    return None


async def _is_gone(cluster: ClusterClient, manifest: Manifest) -> bool:
    metadata = manifest["metadata"]
    return await cluster.read(kind_of(manifest), metadata["namespace"], metadata["name"]) is None


async def _foreign(cluster: ClusterClient, app: Manifest, manifest: Manifest) -> ForeignObject | None:
    """The existing object if it has another owner; an own object was created before a crash."""
    kind, metadata = kind_of(manifest), manifest["metadata"]
    existing = await cluster.read(kind, metadata["namespace"], metadata["name"])
    if existing is not None and is_owned(existing, app):
        return None
    return ForeignObject(kind.name, metadata["name"])


async def execute_restores(cluster: ClusterClient, facts: Facts, writes: Iterable[Apply]) -> Facts:
    """Put each object back; the facts with those that cannot be."""
    reason, messages = "", []
    for write in writes:
        kind, name = write.manifest["kind"], write.manifest["metadata"]["name"]
        try:
            foreign = await execute_writes(cluster, facts.manifest, [write])
        except RejectedError as error:
            reason = reason or ConditionReason.NOT_RESTORED
            messages.append(f"{kind} {name} is not put back ({error.reason}): {reported_text(str(error))}")
        else:
            if foreign is not None:
                reason = reason or ConditionReason.NAME_TAKEN
                messages.append(f"{kind} {name} belongs to somebody else; delete it, and it is made anew")
    return replace(facts, unrestored=tuple(messages), unrestored_reason=reason)
