"""Whether volume claims end with their app: they are owned by it, or by nobody."""

from collections.abc import Iterator

from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.facts.facts import Facts
from streamapp_operator.reconciler.objects.object_metadata import is_owned, owner_reference
from streamapp_operator.reconciler.pods import embedded_log


def owned_claims(facts: Facts, app: StreamApp) -> Iterator[Manifest]:
    """What to apply to claims that are not as `state.reclaimPolicy` wants them."""
    wanted = app.spec.state.reclaim_policy == "Delete"
    for claim in facts.claims:
        metadata = claim["metadata"]
        if is_owned(claim, facts.manifest) is wanted:
            continue
        if metadata["name"] == embedded_log.log_claim_name(facts.name):
            if made := embedded_log.log_claim(facts.manifest, app):
                yield made
            continue
        found: Manifest = {"name": metadata["name"], "namespace": metadata["namespace"]}
        if wanted:
            found["ownerReferences"] = [owner_reference(facts.manifest)]
        yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": found}
