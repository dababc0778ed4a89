"""Location providers: the location of a pod's processors, from the pod's metadata.

A provider is written `node`, `pod`, `volume`, `label:<key>`, or several of these joined by `+`, such as
`label:topology.kubernetes.io/zone+node`: then two locations are equal only if all parts are.
Neither label keys nor Kubernetes names contain a `+`, so no two locations share an identifier.
An app may name a function of its own instead, as `package.module:name`. Only its driver calls that.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from streamapp.placement.locations.location_id import UNKNOWN, LocationId
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal
from streamapp.tasks.user_calls import Complaint, answer_of, shown


@dataclass(frozen=True, slots=True)
class PodFacts:
    """The metadata of a pod that decides its location; unknown parts are empty."""

    name: str
    uid: str = ""
    node: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    node_labels: Mapping[str, str] = field(default_factory=dict)
    claims: Mapping[str, str] = field(default_factory=dict)  # volume -> the claim bound to it
    state_volume: str = ""  # the volume that holds the stores


LocationProvider = Callable[[PodFacts], LocationId]
UserLocationProvider = Callable[[PodFacts], str | None]
"""A user's own: the location of a pod's processors, None where it is not known."""
LONGEST_LOCATION: Final = 200
"""Locations of processors are in messages and models, and those of tasks are remembered."""


def user_provider_name(text: str) -> str | None:
    """The function that `placement.location` names; None where it names what the product knows."""
    return text if any(_parse_part(part) is None for part in text.split("+")) else None


def user_location(provider: UserLocationProvider, facts: PodFacts) -> LocationId | Complaint:
    """The location that a user's provider gives, or what is wrong with it."""
    return answer_of(lambda: _checked_location(provider(facts)))


def _checked_location(answer: object) -> LocationId | Complaint:
    if answer is None:
        return UNKNOWN
    if not isinstance(answer, str) or not answer:
        return Complaint(f"gave {shown(answer)}, and a location is a text that is not empty, or None")
    if len(answer) > LONGEST_LOCATION:
        return Complaint(
            f"gave a text of {len(answer):,} characters, and a location has {LONGEST_LOCATION} at most"
        )
    if not answer.isprintable():
        return Complaint(f"gave {shown(answer)}, and a location has no control characters")
    return LocationId(answer)


def parse_location_provider(text: str) -> LocationProvider | Refusal:
    """The provider that `placement.location` asks for."""
    parsed_parts = [_parse_part(part) for part in text.split("+")]
    providers = [part for part in parsed_parts if part is not None]
    if len(providers) < len(parsed_parts):
        return Refusal(
            Reason.INVALID_SPEC,
            "spec.placement.location",
            f'"{text}" names no location',
            "use node, pod, volume, label:<key>, or several of these joined by +",
        )
    return (
        providers[0]
        if len(providers) == 1
        else lambda facts: _joined_location([part(facts) for part in providers])
    )


def _parse_part(text: str) -> LocationProvider | None:
    if text in _SIMPLE:
        return _SIMPLE[text]
    kind, _, key = text.partition(":")
    return _label_provider(key) if kind == "label" and key else None


def _node_location(facts: PodFacts) -> LocationId:
    return _location_id(facts.node)


def _pod_location(facts: PodFacts) -> LocationId:
    # By uid: a pod that is created again under its old name has an empty disk.
    return _location_id(facts.uid)


def _volume_location(facts: PodFacts) -> LocationId:
    return _location_id(facts.claims.get(facts.state_volume, ""))


def _label_provider(key: str) -> LocationProvider:
    def label_location(facts: PodFacts) -> LocationId:
        # Zones and the like are labels of the node; newer clusters copy them to the pod.
        return _location_id(facts.labels.get(key) or facts.node_labels.get(key, ""))

    return label_location


def _location_id(text: str) -> LocationId:
    return LocationId(text) if text else UNKNOWN


def _joined_location(parts: list[LocationId]) -> LocationId:
    return LocationId("+".join(parts)) if all(parts) else UNKNOWN


_SIMPLE: dict[str, LocationProvider] = {
    "node": _node_location,
    "pod": _pod_location,
    "volume": _volume_location,
}
