"""The writes of an app's history: a revision for each spec that a driver ran, and no more than are wanted."""

from collections.abc import Iterator

from streamapp_operator.controller.client.resource_kinds import CONTROLLER_REVISION
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.objects.app_revision import AppRevision, app_revision
from streamapp_operator.reconciler.writes.reconcile_decision import Apply, Delete


def new_revision(findings: Findings) -> Iterator[Apply]:
    """The revision of the generation in force, once a driver has run that."""
    facts, in_force = findings.facts, findings.facts.run.in_force
    if in_force is None or in_force is not findings.target or not facts.app.history.is_due:
        return
    number = facts.app.history.last.number + 1 if facts.app.history.last is not None else 1
    yield Apply(app_revision(facts.app.manifest, number, in_force.accepted, facts.app.history.last_app))


def surplus_revisions(findings: Findings) -> Iterator[Delete]:
    """Deletes the revisions that a newer one has the spec of, and the oldest ones beyond the limit."""
    target = findings.target
    if target is None:
        return
    newer_hashes: set[str] = set()
    kept_revisions: list[AppRevision] = []
    for revision in reversed(findings.facts.app.history.revisions):
        is_surplus = (
            revision.spec_hash in newer_hashes
            or len(kept_revisions) > target.accepted.app.spec.revision_history_limit
        )
        if not is_surplus:
            kept_revisions.append(revision)
            newer_hashes.add(revision.spec_hash)
        elif not revision.leaving:
            yield Delete(CONTROLLER_REVISION, revision.name, revision.uid)
