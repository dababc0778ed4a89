"""The history of an app as it is recorded. The watch keeps no spec of a revision; one is read when needed."""

import asyncio
import logging

from streamapp.protocol.driver_report import DriverState, Report
from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.manifest import AppKey, Manifest
from streamapp_operator.controller.client.resource_kinds import CONTROLLER_REVISION
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.facts.facts import RecordedHistory
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.objects.app_revision import (
    AppRevision,
    app_of_revision,
    read_revision,
    revision_hash,
)

_log = logging.getLogger(__name__)


async def recorded_history(
    context: ReconcileContext, app: Manifest, in_force: AcceptedGeneration | None, report: Report | None
) -> RecordedHistory:
    """The revisions by number. A spec is read only where another one is due."""
    key = AppKey(app["metadata"]["namespace"], app["metadata"]["name"])
    read = (read_revision(manifest, app) for manifest in context.cache.revisions(key))
    revisions = tuple(sorted((item for item in read if item is not None), key=lambda item: item.number))
    if in_force is None or not _has_run(in_force, report):
        return RecordedHistory(revisions)
    if not revisions:
        return RecordedHistory(is_due=True)
    generation = (app["metadata"]["uid"], in_force.generation)
    in_force_hash = context.decoded.revision_hashes.get(
        generation, lambda: revision_hash(in_force.accepted.app)
    )
    if revisions[-1].spec_hash == in_force_hash:
        return RecordedHistory(revisions)
    return RecordedHistory(revisions, is_due=True, last_app=await _app(context, app, revisions[-1]))


def _has_run(generation: AcceptedGeneration, report: Report | None) -> bool:
    """True if a driver has reported that it makes batches as the generation says, or has come to its end."""
    return (
        report is not None
        and report.generation == generation.generation
        and report.state in {DriverState.RUNNING, DriverState.ENDED}
    )


async def _app(context: ReconcileContext, app: Manifest, revision: AppRevision) -> StreamApp | None:
    """The app of a revision, whose spec never changes; None where it is gone or cannot be read."""
    cached = context.decoded.revisions.peek(revision.uid)
    if cached is not None:
        return cached[0]
    manifest = await context.cluster.read(CONTROLLER_REVISION, app["metadata"]["namespace"], revision.name)
    if manifest is None or manifest["metadata"]["uid"] != revision.uid:
        return None
    revised = await asyncio.to_thread(_readable_app, manifest, app)
    context.decoded.revisions.put(revision.uid, (revised,), len(str(manifest.get("data"))))
    return revised


def _readable_app(manifest: Manifest, app: Manifest) -> StreamApp | None:
    try:
        return app_of_revision(manifest, app)
    except Exception:  # somebody else may have written it
        _log.exception("ControllerRevision %s cannot be read", manifest["metadata"]["name"])
        return None
