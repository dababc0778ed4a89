"""Puts back what a running driver needs and what its history lacks; what cannot be put back is named."""

from collections.abc import Iterator

from streamapp_operator.controller.client.apply_diff import contains
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration
from streamapp_operator.reconciler.config_maps.config_map_objects import report_config_map
from streamapp_operator.reconciler.driver.driver_actions import KeepDriver
from streamapp_operator.reconciler.driver.driver_history import DriverHistory
from streamapp_operator.reconciler.findings import Findings
from streamapp_operator.reconciler.objects.driver_objects import driver_objects
from streamapp_operator.reconciler.objects.object_metadata import is_owned
from streamapp_operator.reconciler.pods.driver_pod import generation_of
from streamapp_operator.reconciler.writes.history_writes import new_revision
from streamapp_operator.reconciler.writes.published_model import lost_model, published_model
from streamapp_operator.reconciler.writes.reconcile_decision import Apply


def restores(findings: Findings, history: DriverHistory) -> Iterator[Apply]:
    """The revision and the objects of a running driver that are missing, or are not as they were applied."""
    facts, target = findings.facts, findings.target
    yield from new_revision(findings)
    if not isinstance(findings.action, KeepDriver) or target is None:
        return
    templates = [
        generation.shape.executor for generation in (_running_generation(findings), target) if generation
    ]
    manifests = driver_objects(
        facts.app.manifest, facts.uid, target.accepted.app, templates, findings.network_rules
    )
    for manifest in manifests:
        observed = facts.cluster.driver_objects.get((manifest["kind"], manifest["metadata"]["name"]))
        if observed is None or not _is_intact(observed, manifest, facts.app.manifest):
            yield Apply(manifest)
    if not facts.run.has_report:
        yield Apply(report_config_map(facts.app.manifest))
    if (update := lost_model(findings)) is not None:
        yield Apply(published_model(findings, update, history.incarnation))


def _running_generation(findings: Findings) -> AcceptedGeneration | None:
    """The generation that the driver was started with: its executors are of that template until it ends.

    Those of its successor are of the template of the generation that is to run.
    """
    pod = findings.driver.pod
    return findings.facts.run.accepted_generation(generation_of(pod.manifest)) if pod is not None else None


def _is_intact(observed: Manifest, manifest: Manifest, app: Manifest) -> bool:
    """True if an object has its owner, labels, annotations and content. Others may add to its metadata."""
    own_metadata = {
        name: manifest["metadata"][name] for name in ("labels", "annotations") if name in manifest["metadata"]
    }
    content = {
        name: value for name, value in manifest.items() if name not in {"apiVersion", "kind", "metadata"}
    }
    return (
        is_owned(observed, app)
        and contains(observed["metadata"], own_metadata)
        and contains(observed, content)
    )
