import copy
import pickle

import pytest

from streamapp.placement.locations.location_id import UNKNOWN, LocationId, same_location
from streamapp.placement.locations.location_providers import (
    PodFacts,
    UserLocationProvider,
    parse_location_provider,
    user_location,
    user_provider_name,
)
from streamapp.spec.reasons import Reason
from streamapp.tasks.refusal import Refusal
from streamapp.tasks.user_calls import Complaint

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


ANSWERS = iter("abc")


@pytest.mark.parametrize(
    ("provider", "location"),
    [
        (lambda pod: pod.labels["slice"], "blue"),
        (lambda pod: pod.node[:6], "worker"),
        (lambda _: None, UNKNOWN),
    ],
)
def test_a_provider_of_ones_own_tells_a_location_or_that_it_is_not_known(
    provider: UserLocationProvider, location: str
) -> None:
    answer = user_location(provider, POD)
    assert answer is location if location is UNKNOWN else answer == location


@pytest.mark.parametrize(
    ("provider", "text"),
    [
        (lambda _: 7, "gave 7, and a location is a text that is not empty, or None"),
        (lambda _: "", "gave '', and a location is a text that is not empty, or None"),
        (lambda _: "r" * 201, "gave a text of 201 characters, and a location has 200 at most"),
        (lambda _: "r\n7", "gave 'r\\n7', and a location has no control characters"),
        (lambda pod: pod.labels["zone"], "raised KeyError: 'zone' (in <lambda> of "),
        (lambda _: next(ANSWERS), "gave another answer when it was called again"),
    ],
)
def test_what_is_no_location_is_told_as_it_was_given(provider: UserLocationProvider, text: str) -> None:
    answer = user_location(provider, POD)
    assert isinstance(answer, Complaint)
    assert answer.text.startswith(text)


@pytest.mark.parametrize("text", ["node", "label:rack", "label:rack+node", "volume"])
def test_what_the_product_knows_is_no_function_of_ones_own(text: str) -> None:
    assert user_provider_name(text) is None
    assert user_provider_name("shop.places:rack") == "shop.places:rack"
