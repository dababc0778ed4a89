"""The executors that a driver lacks, and why the API server would not take another one.

Spark makes the pods of executors, and what the API server says to it stays in the driver's log. The operator
asks the same by a dry run.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from streamapp_operator.controller.client.api_errors import RejectedError, UnansweredError
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.facts.facts import MissingExecutors, PublishedRun, RefusedPod
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.facts.reported_texts import reported_text
from streamapp_operator.reconciler.pods.driver_pod import generation_of
from streamapp_operator.reconciler.pods.dry_run_pods import EXECUTOR_PATH, dry_run_pods

ASK_SECONDS: Final = 10.0
"""How often the API server is asked about an executor that is missing."""


async def missing_executors(
    context: ReconcileContext,
    app: Manifest,
    run: PublishedRun,
    drivers: Iterable[PodState],
    executors: Sequence[PodState],
    wanted: int,
) -> dict[str, MissingExecutors]:
    """The executors that drivers lack of so many, by the uid of the driver."""
    by_driver = {}
    for driver in drivers:
        if driver.life is not PodLifecycle.LIVING:
            continue
        living = frozenset(
            pod.name
            for pod in executors
            if pod.owner_pod in {"", driver.uid} and pod.life is PodLifecycle.LIVING
        )
        report = run.report_of(driver)
        is_bound = report is not None and len(report.binding) >= wanted
        if len(living) >= wanted or (not living and is_bound):
            continue  # without any pod it is the driver that notices that its executors are lost
        since = context.sightings.executor_losses.get((driver.uid, living), context.clock)
        missing = MissingExecutors(len(living), wanted, since)
        generation = run.accepted_generation(generation_of(driver.manifest))
        if missing.seconds(context.clock()) >= MissingExecutors.GRACE_SECONDS and generation is not None:
            refused_pod = await _refused_executor(context, app, generation)
            missing = MissingExecutors(len(living), wanted, since, refused_pod)
        by_driver[driver.uid] = missing
    return by_driver


async def _refused_executor(
    context: ReconcileContext, app: Manifest, generation: AcceptedGeneration
) -> RefusedPod | None:
    """Why the API server would not take an executor now; None where it would, or does not say."""
    key = (app["metadata"]["uid"], generation.generation)
    known = context.sightings.refused_executors.peek(key)
    if known is not None and context.clock() - known[0] < ASK_SECONDS:
        return known[1]
    pod = dict(dry_run_pods(app, generation.shape, generation.generation))[EXECUTOR_PATH]
    refused_pod = None
    try:
        await context.cluster.try_create(pod)
    except RejectedError as error:
        refused_pod = RefusedPod(error.reason, reported_text(str(error)))
    except UnansweredError:
        refused_pod = None  # it has something else to do, and so has Spark
    context.sightings.refused_executors.put(key, (context.clock(), refused_pod))
    return refused_pod
