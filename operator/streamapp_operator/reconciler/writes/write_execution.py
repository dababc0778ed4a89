"""Executes the writes of a decision."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from streamapp_operator.controller.client.api_errors import RejectedError, WriteConflict
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.concurrent_calls import side_by_side
from streamapp_operator.controller.client.labels import ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import (
    CONFIG_MAP,
    POD,
    ROLE,
    ROLE_BINDING,
    SECRET,
    ResourceKind,
    kind_of,
)
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.config_maps.accepted_generation import ADOPTED_ANNOTATION
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.facts.reported_texts import reported_text
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import (
    ObjectRole,
    is_owned,
    may_change,
    owner_reference,
)
from streamapp_operator.reconciler.objects.run_secret import run_secret
from streamapp_operator.reconciler.writes.reconcile_decision import (
    Adopt,
    Apply,
    Create,
    CreateRunSecret,
    Delete,
    Write,
)


def write_stages(writes: Iterable[Write]) -> list[list[Write]]:
    """Each write in the first stage after all those that it needs."""
    stage_of: list[tuple[Write, int]] = []
    for write in writes:
        needed_stages = [stage for earlier, stage in stage_of if _needs(write, earlier)]
        stage_of.append((write, max(needed_stages, default=-1) + 1))
    last = max((stage for _, stage in stage_of), default=-1)
    return [[write for write, at in stage_of if at == stage] for stage in range(last + 1)]


def _needs(write: Write, earlier: Write) -> bool:
    """True if a write may only follow an earlier one of the same decision.

    A driver is created when all is ready for it. Nothing is deleted before what takes its place is there, or
    made before what stands in its way is deleted. A binding names its Role. A running driver follows the job
    model to its generation. The Secret of a run has the driver's pod as its owner. A driver
    that is adopted becomes the app's once all else is.
    """
    kind, earlier_kind = _kind(write), _kind(earlier)
    if isinstance(write, Delete) is not isinstance(earlier, Delete):
        return True
    return (
        (isinstance(write, Create | Adopt) and kind is POD)
        or (isinstance(write, CreateRunSecret) and earlier_kind is POD)
        or (kind is ROLE_BINDING and earlier_kind is ROLE)
        or (kind is CONFIG_MAP and earlier_kind is CONFIG_MAP and _is_generation(earlier))
    )


def _kind(write: Write) -> ResourceKind:
    match write:
        case Delete(kind=kind):
            return kind
        case CreateRunSecret():
            return SECRET
    return kind_of(write.manifest)


def _is_generation(write: Write) -> bool:
    if isinstance(write, Delete | CreateRunSecret):
        return False
    labels = write.manifest["metadata"].get("labels") or {}
    return bool(labels.get(ROLE_LABEL) == ObjectRole.ACCEPTED)


@dataclass(frozen=True, slots=True)
class ForeignObject:
    """An object with the name of an app's object and another owner, mostly a deleted app of the same name."""

    kind: str
    name: str


class RejectedPodError(RejectedError):
    """The API server refuses a pod."""


async def execute_writes(
    cluster: ClusterClient, app: Manifest, writes: Iterable[Write]
) -> ForeignObject | None:
    """Execute the writes, stage by stage; stop after a stage with a foreign object and return that."""
    for stage in write_stages(writes):
        outcomes = await side_by_side([_execute_write(cluster, app, write) for write in stage])
        for foreign in outcomes:
            if foreign is not None:
                return foreign
    return None


async def _execute_write(cluster: ClusterClient, app: Manifest, write: Write) -> ForeignObject | None:
    match write:
        case Create(manifest=manifest):
            return await _create(cluster, app, manifest)
        case Apply(manifest=manifest, must_exist=must_exist):
            if must_exist and await _is_deleted(cluster, manifest):
                return None
            if await cluster.apply(manifest, partial(may_change, app=app)) is WriteConflict.EXISTS:
                return ForeignObject(kind_of(manifest).name, manifest["metadata"]["name"])
        case Delete(kind=kind, name=name, uid=uid, grace_seconds=grace):
            await cluster.delete(kind, app["metadata"]["namespace"], name, uid, grace)
        case CreateRunSecret(driver=driver):
            return await _create_run_secret(cluster, app["metadata"]["namespace"], driver)
        case Adopt(manifest=manifest, last_generation=last_generation):
            metadata: Manifest = {"ownerReferences": [owner_reference(app)]}
            if last_generation:
                metadata["annotations"] = {ADOPTED_ANNOTATION: str(last_generation)}
            await cluster.patch_metadata(manifest, metadata)
    return None


async def _create(cluster: ClusterClient, app: Manifest, manifest: Manifest) -> ForeignObject | None:
    try:
        created = await cluster.create(manifest)
    except RejectedError as error:
        if kind_of(manifest) is POD:
            raise RejectedPodError(error.code, error.reason, str(error)) from None
        raise
    return await _foreign(cluster, app, manifest) if created is WriteConflict.EXISTS else None


async def _create_run_secret(cluster: ClusterClient, namespace: str, driver: str) -> ForeignObject | None:
    pod = await cluster.read(POD, namespace, driver)
    if pod is None:
        return None
    name = object_names.run_secret(driver)
    existing = await cluster.read(SECRET, namespace, name)
    if existing is None:
        created = await cluster.create(run_secret(pod))
        existing = created if created is not WriteConflict.EXISTS else None
    owners = (existing or {}).get("metadata", {}).get("ownerReferences") or ()
    is_own = existing is None or any(owner.get("uid") == pod["metadata"]["uid"] for owner in owners)
    return None if is_own else ForeignObject(SECRET.name, name)


async def _is_deleted(cluster: ClusterClient, manifest: Manifest) -> bool:
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
    failures: list[tuple[ConditionReason, str]] = []
    for stage in write_stages(writes):
        outcomes = await side_by_side([_restore(cluster, facts.app.manifest, write) for write in stage])
        failures += [failure for failure in outcomes if failure is not None]
    reason = failures[0][0] if failures else ""
    unrestored = tuple(message for _, message in failures)
    cluster_facts = replace(facts.cluster, unrestored=unrestored, unrestored_reason=reason)
    return replace(facts, cluster=cluster_facts)


async def _restore(cluster: ClusterClient, app: Manifest, write: Write) -> tuple[ConditionReason, str] | None:
    """Why an object cannot be put back; None where it is there."""
    if isinstance(write, Delete | CreateRunSecret):
        return None
    kind, name = write.manifest["kind"], write.manifest["metadata"]["name"]
    try:
        foreign = await _execute_write(cluster, app, write)
    except RejectedError as error:
        message = f"{kind} {name} is not put back ({error.reason}): {reported_text(str(error))}"
        return ConditionReason.NOT_RESTORED, message
    if foreign is None:
        return None
    return (
        ConditionReason.NAME_TAKEN,
        f"{kind} {name} belongs to another owner; delete it, and the operator recreates it",
    )
