"""The writes of an app's history: a revision for each spec that a driver ran, and no more than are wanted."""

from collections.abc import Iterator

from streamapp.protocol.driver_report import DriverState
from streamapp_operator.controller.client.resource_kinds import CONTROLLER_REVISION
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.objects.app_revision import AppRevision, app_revision
from streamapp_operator.reconciler.writes.reconcile_decision import Apply, Delete


def new_revision(findings: Findings) -> Iterator[Apply]:
    """The revision of the generation in force, once a driver has run that."""
    facts, target = findings.facts, findings.target
    history = facts.history
    if target is None or target is not facts.in_force or history.is_current or not _has_run(findings):
        return
    number = history.last.number + 1 if history.last is not None else 1
    yield Apply(app_revision(facts.manifest, number, target.accepted, history.last_app))


def _has_run(findings: Findings) -> bool:
    """Whether a driver has reported that it makes batches as the target says, or has come to its end."""
    report, target = findings.facts.report, findings.target
    return (
        report is not None
        and target is not None
        and report.generation == target.generation
        and report.state in {DriverState.RUNNING, DriverState.ENDED}
    )


def surplus_revisions(findings: Findings) -> Iterator[Delete]:
    """Deletes the revisions that a newer one has the spec of, and the oldest ones beyond the limit."""
    target = findings.target
    if target is None:
        return
    newer_hashes: set[str] = set()
    kept_revisions: list[AppRevision] = []
    for revision in reversed(findings.facts.history.revisions):
        is_surplus = (
            revision.spec_hash in newer_hashes
            or len(kept_revisions) > target.accepted.app.spec.revision_history_limit
        )
        if not is_surplus:
            kept_revisions.append(revision)
            newer_hashes.add(revision.spec_hash)
        elif not revision.leaving:
            yield Delete(CONTROLLER_REVISION, revision.name, revision.uid)
