"""Gathers the facts of a reconcile, from the cache or from the API server."""

from dataclasses import replace

from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data
from streamapp_operator.controller.client.manifest import AppKey, Manifest
from streamapp_operator.reconciler.config_maps.accepted_generation import (
    without_outdated_refusal,
)
from streamapp_operator.reconciler.facts.cluster_facts import gather_cluster_facts, read_objects
from streamapp_operator.reconciler.facts.facts import (
    AppFacts,
    ApplicationIdHolder,
    DryRun,
    Facts,
    PublishedRun,
)
from streamapp_operator.reconciler.facts.gathered_pods import gather_pods, unlabelled_drivers
from streamapp_operator.reconciler.facts.generation_validation import GenerationValidation
from streamapp_operator.reconciler.facts.published_run import read_run
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.facts.revision_facts import recorded_history

DRY_RUN_SECONDS = 25.0
"""How long the API server's word on a generation's pods is good; less than the time until a refused one is
looked at again."""


async def gather_facts(context: ReconcileContext, key: AppKey, *, live: bool) -> Facts | None:
    """The facts about an app; None where the app does not exist or is being deleted."""
    objects = await read_objects(context, key, live=live)
    if objects is None:
        return None
    run = await read_run(context, objects.app, objects.config_maps)
    app = _counted_on(objects.app, run)
    pods = (*objects.pods, *(await unlabelled_drivers(context, app, objects.pods, run) if live else ()))
    validation = await _validation(context, app)
    target = run.in_force.accepted.app if run.in_force else validation.newest.app
    app_pods = await gather_pods(context, app, target, pods, run)
    objects = replace(objects, app=app, pods=pods)
    cluster = await gather_cluster_facts(context, objects, validation.newest, run, app_pods.drivers)
    generations = (without_outdated_refusal(item, cluster.configuration) for item in run.generations)
    return Facts(
        app=await _gather_app(context, app, validation, run),
        now=context.clock(),
        run=replace(run, generations=tuple(generations)),
        pods=app_pods,
        cluster=cluster,
        memoized=context.memoized,
    )


async def _gather_app(
    context: ReconcileContext, app: Manifest, validation: GenerationValidation, run: PublishedRun
) -> AppFacts:
    """The facts about the resource and its newest generation; other ids count until it is accepted."""
    newest, is_known = validation.newest, run.accepted_generation(validation.newest.generation) is not None
    return AppFacts(
        manifest=app,
        newest=newest,
        start_problems=await _start_problems(context, app, validation, run),
        history=await recorded_history(context, app, run.in_force, run.report),
        application_id_holder=None if is_known else _application_id_holder(context, app, newest.app),
        namespace_of_id="" if is_known else _namespace_of_id(context, app, newest.app),
        dry_run=_recent_dry_run(context, app),
    )


def dry_run_key(app: Manifest) -> tuple[str, int]:
    """The key of a dry run: one generation of one app."""
    return app["metadata"]["uid"], app["metadata"]["generation"]


def _recent_dry_run(context: ReconcileContext, app: Manifest) -> DryRun | None:
    """The last dry run, unless it is old: a quota or a policy of the cluster may have changed since."""
    dry_run = context.sightings.dry_runs.peek(dry_run_key(app))
    return dry_run if dry_run is not None and context.clock() - dry_run.at < DRY_RUN_SECONDS else None


def _counted_on(app: Manifest, run: PublishedRun) -> Manifest:
    """The app, with its generations counted on from those of the deleted app that it has adopted."""
    metadata, adopted = app["metadata"], run.adopted_generations
    if not adopted:
        return app
    return {**app, "metadata": {**metadata, "generation": metadata["generation"] + adopted}}


async def _validation(context: ReconcileContext, app: Manifest) -> GenerationValidation:
    """The validation of a generation, which never changes."""
    key = (app["metadata"]["uid"], app["metadata"]["generation"])
    validation = context.decoded.validations.peek(key)
    if validation is None:
        validation = await context.validation_pool.validate(app)
        context.decoded.validations.put(key, validation, len(str(app["spec"])))
    return validation


async def _start_problems(
    context: ReconcileContext, app: Manifest, validation: GenerationValidation, run: PublishedRun
) -> dict[int, tuple[Problem, ...]]:
    """The problems of the generations that may have to be planned."""
    problems = {validation.newest.generation: validation.start_problems}
    in_force = run.in_force
    if in_force is not None and in_force.generation not in problems:
        metadata = {**app["metadata"], "generation": in_force.generation}
        earlier_app = {**app, **as_data(in_force.accepted.app), "metadata": metadata}
        problems[in_force.generation] = (await _validation(context, earlier_app)).start_problems
    return problems


def _namespace_of_id(context: ReconcileContext, app: Manifest, parsed: StreamApp | None) -> str:
    """The other namespace whose apps have ids that begin like this one's by default."""
    namespace = parsed.application_id.partition(".")[0] if parsed is not None else ""
    is_own = namespace == app["metadata"]["namespace"]
    has_apps = not is_own and any(key.namespace == namespace for key in context.cache.apps())
    return namespace if has_apps else ""


def _application_id_holder(
    context: ReconcileContext, app: Manifest, parsed: StreamApp | None
) -> ApplicationIdHolder | None:
    """Another app with the same application id that runs already or is older."""
    if parsed is None:
        return None
    own_age = (app["metadata"]["creationTimestamp"], app["metadata"]["uid"])
    for other in context.cache.apps_of(parsed.application_id):
        metadata = other["metadata"]
        if metadata["uid"] == app["metadata"]["uid"]:
            continue
        was_accepted = (other.get("status") or {}).get("acceptedGeneration") is not None
        if was_accepted or (metadata["creationTimestamp"], metadata["uid"]) < own_age:
            return ApplicationIdHolder(metadata["name"], metadata["namespace"], was_accepted)
    return None
