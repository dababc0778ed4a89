"""The fit of the pods of one generation where those of another one are."""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.pods.dry_run_pods import dry_run_pods
from streamapp_operator.reconciler.pods.pod_shape import PodShape
from streamapp_operator.reconciler.pods.quantities import quantity_value

_NODE_FIELDS: Final = ("nodeSelector", "nodeName", "affinity", "tolerations", "runtimeClassName")
"""What decides on which nodes a pod may run."""


def fits_in_place(app: Manifest, shape: PodShape, former: PodShape) -> bool:
    """True if pods ask for no more than the former ones, on the same nodes, and mount no further claim."""
    pods, former_pods = (dict(dry_run_pods(app, each, 0)) for each in (shape, former))
    return all(_takes_no_more(pods[path]["spec"], former_pods[path]["spec"]) for path in pods)


def shares_claim(shape: PodShape, former: PodShape) -> bool:
    """True if drivers of both mount one claim, which may be mounted on one node only."""
    return bool(_claims(shape.driver["spec"]) & _claims(former.driver["spec"]))


def _takes_no_more(spec: Mapping[str, Any], former: Mapping[str, Any]) -> bool:
    if any(spec.get(field) != former.get(field) for field in _NODE_FIELDS):
        return False
    if not _claims(spec) <= _claims(former):
        return False
    amounts, former_amounts = _amounts(spec), _amounts(former)
    return all(amount <= former_amounts.get(name, 0) for name, amount in amounts.items())


def _claims(spec: Mapping[str, Any]) -> set[str]:
    volumes = spec.get("volumes") or ()
    claims = (volume.get("persistentVolumeClaim") or {} for volume in volumes)
    return {str(claim["claimName"]) for claim in claims if "claimName" in claim}


def _amounts(spec: Mapping[str, Any]) -> dict[tuple[str, str], Fraction]:
    """The requests and limits of the containers of a pod, as a quota counts them."""
    amounts: defaultdict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        for kind in ("requests", "limits"):
            for name, quantity in ((container.get("resources") or {}).get(kind) or {}).items():
                amounts[kind, name] += quantity_value(str(quantity))
    return dict(amounts)
