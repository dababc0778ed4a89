"""One reconcile: gather the facts, decide, and do it. Whoever is killed in between is followed by another."""

import asyncio
from collections.abc import Mapping
from typing import Any, Literal

from streamapp.exposition.metric_collector import MetricCollector
from streamapp_operator.controller.client.api_errors import RejectedError, WriteConflict
from streamapp_operator.controller.client.app_key import AppKey
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import POD
from streamapp_operator.controller.telemetry.operator_metrics import (
    DECIDE_SECONDS,
    EVENTS,
    LAUNCHES,
    RESTARTS,
)
from streamapp_operator.controller.workqueue.reconcile_outcome import (
    ReconcileDone,
    ReconcileOutcome,
    RequeueAfter,
)
from streamapp_operator.reconciler.decide import decide
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.facts.gather import gather_facts
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.status.write_failure import with_write_failure
from streamapp_operator.reconciler.writes.reconcile_decision import Create, ReconcileDecision
from streamapp_operator.reconciler.writes.write_execution import ForeignObject, execute_writes

CONFLICT_RETRY_SECONDS = 0.2
WRITE_FAILURE_RETRY_SECONDS = 15.0
LARGE_APP_PARTITIONS = 2_000
"""Partitions from which on an app is a large one."""


async def reconcile(key: AppKey, world: ReconcileContext) -> ReconcileOutcome:
    """Bring one app nearer to what is wanted of it.

    What the watches have seen is good enough to see that there is nothing to do. Whatever makes or takes
    away something is decided again from what the API server says itself.
    """
    facts = await gather_facts(world, key, live=False)
    if facts is None:
        return ReconcileDone()
    verdict = await _decided(facts, world)
    if verdict.before or verdict.after:
        facts = await gather_facts(world, key, live=True)
        if facts is None:
            return ReconcileDone()
        verdict = await _decided(facts, world)
    return await _done(facts, verdict, world)


async def _decided(facts: Facts, world: ReconcileContext) -> ReconcileDecision:
    """What takes long is thought over on a thread, so that the others and the Lease have their turn."""
    with world.measured.timed(DECIDE_SECONDS):
        if facts.partitions < LARGE_APP_PARTITIONS:
            return decide(facts, world.installation)
        return await asyncio.to_thread(decide, facts, world.installation)


async def _done(facts: Facts, verdict: ReconcileDecision, world: ReconcileContext) -> ReconcileOutcome:
    obstacle = await _carried(facts, verdict, world)
    if obstacle is WriteConflict.CONFLICT:
        return RequeueAfter(CONFLICT_RETRY_SECONDS)
    if obstacle is not None:
        return RequeueAfter(WRITE_FAILURE_RETRY_SECONDS)
    return ReconcileDone() if verdict.again is None else RequeueAfter(verdict.again)


async def _carried(
    facts: Facts, verdict: ReconcileDecision, world: ReconcileContext
) -> Literal[WriteConflict.CONFLICT] | ForeignObject | RejectedError | None:
    """Write, say, write. The status is said from what was read; where that has changed, all is off."""
    cluster, app = world.cluster, facts.manifest
    try:
        if foreign := await execute_writes(cluster, app, verdict.before):
            return await _told_of(facts, foreign, world)
    except RejectedError as error:
        return await _told_of(facts, error, world)
    said = await cluster.patch_status(app, verdict.status)
    if said is WriteConflict.CONFLICT:
        return WriteConflict.CONFLICT
    for event in verdict.events:
        await cluster.event(app, event.type, event.reason, event.message)
    try:
        if foreign := await execute_writes(cluster, said, verdict.after):
            return await _told_of(facts, foreign, world, said)
    except RejectedError as error:
        return await _told_of(facts, error, world, said)
    count_decision(world.measured, facts.status, verdict)
    return None


async def _told_of(
    facts: Facts,
    obstacle: ForeignObject | RejectedError,
    world: ReconcileContext,
    said: Manifest | None = None,
) -> ForeignObject | RejectedError:
    """Say what stands in the way; the next reconcile tries again."""
    app = said or facts.manifest
    await world.cluster.patch_status(app, with_write_failure(app.get("status") or {}, obstacle, facts))
    return obstacle


def count_decision(measured: MetricCollector, before: Mapping[str, Any], verdict: ReconcileDecision) -> None:
    """Count launches, restarts and what was told; `before` is the status that was."""
    made = [write.manifest["kind"] for write in verdict.after if isinstance(write, Create)]
    measured.increment(LAUNCHES, by=made.count(POD.name))
    restarts = verdict.status.get("restarts", 0) - before.get("restarts", 0)
    measured.increment(RESTARTS, by=max(restarts, 0))
    for event in verdict.events:
        measured.increment(EVENTS, event.type, event.reason)
