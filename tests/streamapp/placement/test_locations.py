import copy
import pickle

import pytest

from streamapp.placement.locations.location_id import UNKNOWN, LocationId, same_location
from streamapp.placement.locations.location_providers import PodFacts, parse_location_provider
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal

POD = PodFacts(
    name="app-exec-3",
    uid="6f1c",
    node="worker-7",
    labels={"slice": "blue"},
    node_labels={"topology.kubernetes.io/zone": "zone-b", "slice": "of-the-node"},
    claims={"state": "state-app-3", "logs": "logs-app-3"},
    state_volume="state",
)


def of(text: str, pod: PodFacts = POD) -> LocationId:
    found = parse_location_provider(text)
    assert not isinstance(found, Refusal)
    return found(pod)


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("node", "worker-7"),
        ("pod", "6f1c"),
        ("volume", "state-app-3"),
        ("label:slice", "blue"),
        ("label:topology.kubernetes.io/zone", "zone-b"),
        ("label:topology.kubernetes.io/zone+node", "zone-b+worker-7"),
        ("volume+node", "state-app-3+worker-7"),
    ],
)
def test_each_provider_reads_its_part_of_the_pod(text: str, location: str) -> None:
    assert of(text) == LocationId(location)


@pytest.mark.parametrize("text", ["node", "pod", "volume", "label:slice", "node+label:slice"])
def test_what_a_pod_does_not_say_is_unknown(text: str) -> None:
    assert of(text, PodFacts("pending")) is UNKNOWN


def test_a_composite_with_an_unknown_part_is_unknown() -> None:
    assert of("node+label:rack") is UNKNOWN


@pytest.mark.parametrize("text", ["", "host", "label:", "node+", "+", "label", "Node"])
def test_anything_else_is_refused_and_told_what_there_is(text: str) -> None:
    found = parse_location_provider(text)
    assert isinstance(found, Refusal)
    assert found.reason is Reason.INVALID_SPEC
    assert found.path == "spec.placement.location"
    assert f'"{text}"' in found.message
    assert "label:<key>" in found.hint


def test_unknown_equals_nothing_and_stays_what_it_is_when_copied() -> None:
    assert not UNKNOWN == UNKNOWN  # noqa: PLR0124, SIM201
    assert UNKNOWN != ""
    assert not UNKNOWN
    assert copy.deepcopy(UNKNOWN) is UNKNOWN
    assert pickle.loads(pickle.dumps(UNKNOWN)) is UNKNOWN  # noqa: S301
    assert f"{UNKNOWN} {UNKNOWN!r}" == "unknown UNKNOWN"


def test_only_known_locations_can_be_the_same() -> None:
    assert same_location(LocationId("a"), "a")
    assert not same_location("a", "b")
    for nowhere in (None, UNKNOWN, ""):
        assert not same_location(nowhere, nowhere)
        assert not same_location("a", nowhere)
