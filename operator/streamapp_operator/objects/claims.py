"""Whether volume claims end with their app: they are owned by it, or by nobody."""

from collections.abc import Iterator

from streamapp.spec.app import StreamApp
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.facts.facts import Facts
from streamapp_operator.objects import embedded
from streamapp_operator.objects.owned import is_owned, owner


def owned_claims(facts: Facts, app: StreamApp) -> Iterator[Manifest]:
    """What to apply to claims that are not as `state.reclaimPolicy` wants them."""
    wanted = app.spec.state.reclaim_policy == "Delete"
    for claim in facts.claims:
        metadata = claim["metadata"]
        if is_owned(claim, facts.manifest) is wanted:
            continue
        if metadata["name"] == embedded.claim_name(facts.name):
            if made := embedded.claim(facts.manifest, app):
                yield made
            continue
        found: Manifest = {"name": metadata["name"], "namespace": metadata["namespace"]}
        if wanted:
            found["ownerReferences"] = [owner(facts.manifest)]
        yield {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": found}
