"""The stages of writes: those of one stage go side by side, since none needs another one to be done."""

from collections.abc import Iterable

from streamapp_operator.controller.client.labels import ROLE_LABEL
from streamapp_operator.controller.client.resource_kinds import (
    CONFIG_MAP,
    POD,
    ROLE,
    ROLE_BINDING,
    SECRET,
    ResourceKind,
    kind_of,
)
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole
from streamapp_operator.reconciler.writes.reconcile_decision import Create, CreateRunSecret, Delete, Write


def write_stages(writes: Iterable[Write]) -> list[list[Write]]:
    """Each write in the first stage after all those that it needs."""
    stage_of: list[tuple[Write, int]] = []
    for write in writes:
        needed_stages = [stage for earlier, stage in stage_of if _needs(write, earlier)]
        stage_of.append((write, max(needed_stages, default=-1) + 1))
    last = max((stage for _, stage in stage_of), default=-1)
    return [[write for write, at in stage_of if at == stage] for stage in range(last + 1)]


def _needs(write: Write, earlier: Write) -> bool:
    """Whether a write may only follow an earlier one of the same decision.

    A driver is created when all is ready for it. Nothing is deleted before what takes its place is there, or
    made before what stands in its way is deleted. A binding names its Role. A running driver follows the job
    model to its generation. The Secret of a run has the driver's pod as its owner.
    """
    kind, earlier_kind = _kind(write), _kind(earlier)
    if isinstance(write, Delete) is not isinstance(earlier, Delete):
        return True
    return (
        (isinstance(write, Create) and kind is POD)
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
