"""Tells from a pod's metadata at which location its processors are.

A provider is written `node`, `pod`, `volume`, `label:<key>`, or several of these joined by `+`, such as
`label:topology.kubernetes.io/zone+node`: then all parts have to be the same for two places to be one.
Neither label keys nor the names that Kubernetes allows contain a `+`, so no two places share a name.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from streamapp.placement.locations.location_id import UNKNOWN, LocationId
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal


@dataclass(frozen=True, slots=True)
class PodFacts:
    """What is known of a pod; what is not known is empty."""

    name: str
    uid: str = ""
    node: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    node_labels: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, str] = field(default_factory=dict)  # volume -> the claim bound to it
    state_volume: str = ""  # the volume that holds the stores


LocationProvider = Callable[[PodFacts], LocationId]


def parse_location_provider(text: str) -> LocationProvider | Refusal:
    """The provider that `placement.location` asks for."""
    parts = [_part(part) for part in text.split("+")]
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return Refusal(
            Reason.INVALID_SPEC,
            "spec.placement.location",
            f'"{text}" names no location',
            "use node, pod, volume, label:<key>, or several of these joined by +",
        )
    return found[0] if len(found) == 1 else lambda facts: _joined([part(facts) for part in found])


def _part(text: str) -> LocationProvider | None:
    if text in _SIMPLE:
        return _SIMPLE[text]
    kind, _, key = text.partition(":")
    return _label(key) if kind == "label" and key else None


def _node(facts: PodFacts) -> LocationId:
    return _known(facts.node)


def _pod(facts: PodFacts) -> LocationId:
    # By uid: a pod that comes again under its old name comes with an empty disk.
    return _known(facts.uid)


def _volume(facts: PodFacts) -> LocationId:
    return _known(facts.claims.get(facts.state_volume, ""))


def _label(key: str) -> LocationProvider:
    def of(facts: PodFacts) -> LocationId:
        # Zones and the like are labels of the node; newer clusters copy them to the pod.
        return _known(facts.labels.get(key) or facts.node_labels.get(key, ""))

    return of


def _known(text: str) -> LocationId:
    return LocationId(text) if text else UNKNOWN


def _joined(parts: list[LocationId]) -> LocationId:
    return LocationId("+".join(parts)) if all(parts) else UNKNOWN


_SIMPLE: dict[str, LocationProvider] = {"node": _node, "pod": _pod, "volume": _volume}
