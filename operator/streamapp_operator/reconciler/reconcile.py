"""One reconcile: gather the facts, decide, execute. A reconcile may be killed at any point."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from streamapp.exposition.metric_collector import MetricCollector
from streamapp_operator.controller.client.api_errors import RejectedError, WriteConflict
from streamapp_operator.controller.client.concurrent_calls import side_by_side
from streamapp_operator.controller.client.manifest import AppKey, Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP, POD, SERVICE_ACCOUNT, kind_of
from streamapp_operator.controller.telemetry.operator_metrics import (
    DECIDE_SECONDS,
    LAUNCHES,
    RESTARTS,
)
from streamapp_operator.controller.workqueue.reconcile_outcome import (
    ReconcileDone,
    ReconcileOutcome,
    RequeueAfter,
)
from streamapp_operator.reconciler.decide import decide
from streamapp_operator.reconciler.facts.facts import AppFacts, DryRun, Facts, RefusedPod
from streamapp_operator.reconciler.facts.gather import dry_run_key, gather_facts
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.facts.reported_texts import reported_text
from streamapp_operator.reconciler.internal_error import internal_error
from streamapp_operator.reconciler.pause import is_paused, paused_status
from streamapp_operator.reconciler.pods.driver_pod import is_standby
from streamapp_operator.reconciler.status.app_measurement import app_measurement, with_driver
from streamapp_operator.reconciler.status.status_events import status_events
from streamapp_operator.reconciler.status.write_failure import with_write_failure
from streamapp_operator.reconciler.writes.dry_run import refused_pods
from streamapp_operator.reconciler.writes.event_publication import publish_events
from streamapp_operator.reconciler.writes.reconcile_decision import Create, ReconcileDecision
from streamapp_operator.reconciler.writes.write_execution import (
    ForeignObject,
    RejectedPodError,
    execute_restores,
    execute_writes,
)

_log = logging.getLogger(__name__)
CONFLICT_RETRY_SECONDS = 0.2
WRITE_FAILURE_RETRY_SECONDS = 15.0
LARGE_APP_PARTITIONS = 2_000
"""From this many partitions on an app is planned on a thread."""


async def reconcile(key: AppKey, context: ReconcileContext) -> ReconcileOutcome:
    """Bring one app nearer to its desired state.

    The cache is enough to find that there is nothing to do. A decision that creates or deletes objects is
    made again from facts that are read from the API server, and a third time where the API server was asked
    about the pods of a new generation.
    """
    app = context.cache.app(key)
    if app is None:
        context.app_metrics.remove(key.namespace, key.name)
        return ReconcileDone()
    if is_paused(app):
        return await _report_pause(app, context)
    facts = await gather_facts(context, key, live=False)
    if facts is None:
        return ReconcileDone()
    decision = await _decide(facts, context)
    writes = decision.before or decision.after or decision.processors is not None
    if writes or _restores_config_maps(decision):
        facts = await gather_facts(context, key, live=True)
        if facts is None:
            return ReconcileDone()
        if is_paused(facts.app.manifest):
            return await _report_pause(facts.app.manifest, context)
        decision = await _decide(facts, context)
        if decision.dry_run:
            facts = await _dry_run(facts, decision, context)
            decision = await _decide(facts, context)
    return await _outcome(facts, decision, context)


async def _report_pause(app: Manifest, context: ReconcileContext) -> ReconcileOutcome:
    """Report that the app is paused, and do nothing else."""
    if app["metadata"].get("deletionTimestamp"):
        return ReconcileDone()
    cluster, status = context.cluster, paused_status(app, context.clock())
    if await cluster.patch_status(app, status) is WriteConflict.CONFLICT:
        return RequeueAfter(CONFLICT_RETRY_SECONDS)
    _measure(app, status, None, context)
    await publish_events(cluster, app, status_events(app.get("status") or {}, status), context.metrics)
    return ReconcileDone()


def _restores_config_maps(decision: ReconcileDecision) -> bool:
    """True if job model or report seems lost. The cache may be late, and a lost model costs a version."""
    return any(kind_of(write.manifest) is CONFIG_MAP for write in decision.restores)


async def _dry_run(facts: Facts, decision: ReconcileDecision, context: ReconcileContext) -> Facts:
    """The facts with the API server's word on the pods of the newest generation."""
    accounts = [name for kind, name in facts.cluster.driver_objects if kind == SERVICE_ACCOUNT.name]
    problems = await refused_pods(context.cluster, decision.dry_run, accounts)
    dry_run = DryRun(facts.now, problems)
    context.sightings.dry_runs.put(dry_run_key(facts.app.manifest), dry_run)
    return replace(facts, app=replace(facts.app, dry_run=dry_run))


async def _decide(facts: Facts, context: ReconcileContext) -> ReconcileDecision:
    """Decide; for a large app on a thread, so that other apps and the Lease are served meanwhile."""
    with context.metrics.timed(DECIDE_SECONDS):
        if facts.cluster.partitions < LARGE_APP_PARTITIONS:
            decision = decide(facts, context.installation)
        else:
            decision = await _decide_on_thread(facts, context)
    if error := decision.internal_error:
        _log.error(
            "generation %d refused: %s", facts.app.newest.generation, internal_error(error), exc_info=error
        )
    return decision


async def _decide_on_thread(facts: Facts, context: ReconcileContext) -> ReconcileDecision:
    """Decide on a thread. One whose reconcile is cancelled keeps its turn: there is never a second."""
    await context.large_plans.acquire()
    deciding = asyncio.ensure_future(asyncio.to_thread(decide, facts, context.installation))
    deciding.add_done_callback(lambda _: context.large_plans.release())
    return await asyncio.shield(deciding)


async def _outcome(facts: Facts, decision: ReconcileDecision, context: ReconcileContext) -> ReconcileOutcome:
    if decision.restores:
        facts = await execute_restores(context.cluster, facts, decision.restores)
        decision = await _decide(facts, context) if facts.cluster.unrestored else decision
    failure = await _execute(facts, decision, context)
    if isinstance(failure, RefusedPod):
        return await _after_refused_pod(facts.app, failure, context)
    if failure is WriteConflict.CONFLICT:
        return RequeueAfter(CONFLICT_RETRY_SECONDS)
    if failure is not None:
        return RequeueAfter(WRITE_FAILURE_RETRY_SECONDS)
    return ReconcileDone() if decision.requeue_after is None else RequeueAfter(decision.requeue_after)


async def _after_refused_pod(
    app: AppFacts, refused_pod: RefusedPod, context: ReconcileContext
) -> ReconcileOutcome:
    """Decide again, with the word of the API server on the pod of a successor."""
    metadata = app.manifest["metadata"]
    newer = await gather_facts(context, AppKey(metadata["namespace"], metadata["name"]), live=True)
    if newer is None:
        return ReconcileDone()
    newer = replace(newer, pods=replace(newer.pods, refused_pod=refused_pod))
    return await _outcome(newer, await _decide(newer, context), context)


async def _execute(
    facts: Facts, decision: ReconcileDecision, context: ReconcileContext
) -> Literal[WriteConflict.CONFLICT] | ForeignObject | RejectedError | RefusedPod | None:
    """Write, set the status, write. A conflict at the status ends the reconcile: the facts are outdated."""
    cluster, app = context.cluster, facts.app.manifest
    try:
        if foreign := await execute_writes(cluster, app, decision.before):
            return await _report_failure(facts, foreign, context)
    except RejectedError as error:
        return await _report_failure(facts, error, context)
    updated_app = await cluster.patch_status(app, decision.status)
    if updated_app is WriteConflict.CONFLICT:
        return WriteConflict.CONFLICT
    _measure(app, decision.status, facts, context)
    return await _execute_announced(facts, decision, context, updated_app)


async def _execute_announced(
    facts: Facts, decision: ReconcileDecision, context: ReconcileContext, updated_app: Manifest
) -> Literal[WriteConflict.CONFLICT] | ForeignObject | RejectedError | RefusedPod | None:
    """Publish the events, and make the writes that the status has announced."""
    cluster = context.cluster
    events = publish_events(cluster, facts.app.manifest, decision.events, context.metrics)
    writing = asyncio.ensure_future(execute_writes(cluster, updated_app, decision.after))
    try:
        await side_by_side([events, writing])
    except RejectedError as error:
        is_of_pod = isinstance(error, RejectedPodError) and _starts_successor(decision)
        if is_of_pod and facts.pods.refused_pod is None:
            return RefusedPod(error.reason, reported_text(str(error)))
        return await _report_failure(facts, error, context, updated_app)
    if foreign := writing.result():
        return await _report_failure(facts, foreign, context, updated_app)
    count_decision(context.metrics, facts.app.status, decision)
    return await _scale(facts, decision, context, updated_app)


def _starts_successor(decision: ReconcileDecision) -> bool:
    created = [write.manifest for write in decision.after if isinstance(write, Create)]
    return any(is_standby(manifest) for manifest in created if kind_of(manifest) is POD)


async def _scale(
    facts: Facts, decision: ReconcileDecision, context: ReconcileContext, app: Manifest
) -> Literal[WriteConflict.CONFLICT] | ForeignObject | RejectedError | None:
    """Set the number of processors in the resource, which is another generation of it."""
    if decision.processors is None:
        return None
    try:
        return await context.cluster.scale(app, decision.processors)
    except RejectedError as error:
        return await _report_failure(facts, error, context, app)


async def _report_failure(
    facts: Facts,
    failure: ForeignObject | RejectedError,
    context: ReconcileContext,
    updated_app: Manifest | None = None,
) -> ForeignObject | RejectedError:
    """Report a failed write in the status and by an event; the next reconcile tries again."""
    app = updated_app or facts.app.manifest
    previous_status = app.get("status") or {}
    status = with_write_failure(previous_status, failure, facts)
    if await context.cluster.patch_status(app, status) is not WriteConflict.CONFLICT:
        await publish_events(context.cluster, app, status_events(previous_status, status), context.metrics)
    _measure(app, status, facts, context)
    return failure


def _measure(app: Manifest, status: Manifest, facts: Facts | None, context: ReconcileContext) -> None:
    """Publish the app's metrics; of a paused app the driver is not looked at, and its values stay."""
    namespace, name = app["metadata"]["namespace"], app["metadata"]["name"]
    measurement = app_measurement(app, status, context.installation)
    previous = context.app_metrics.measured(namespace, name)
    if facts is not None:
        measurement = with_driver(measurement, facts)
    elif previous is not None:
        measurement = replace(
            measurement, image=previous.image, reported_at=previous.reported_at, lag=previous.lag
        )
    context.app_metrics.put(namespace, name, measurement)


def count_decision(
    metrics: MetricCollector, previous_status: Mapping[str, Any], decision: ReconcileDecision
) -> None:
    """Count launches and restarts; `previous_status` is the status before the decision."""
    created_kinds = [write.manifest["kind"] for write in decision.after if isinstance(write, Create)]
    metrics.increment(LAUNCHES, by=created_kinds.count(POD.name))
    restarts = decision.status.get("restarts", 0) - previous_status.get("restarts", 0)
    metrics.increment(RESTARTS, by=max(restarts, 0))
