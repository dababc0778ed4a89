import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.protocol.message_frame import MOST_BYTES, MessageTooLargeError
from streamapp.protocol.wanted_state import WantedState, decode_wanted, encode_wanted
from streamapp.spec.reasons import Reason
from tests.harness.core.job_models import large, models, small
from tests.harness.core.random_layouts import LAYOUTS

LOCATIONS = st.dictionaries(st.text(max_size=6), st.none() | st.text(min_size=1, max_size=6), max_size=5)
WANTED = st.builds(
    WantedState,
    spec_hash=st.text(max_size=8),
    processors=st.integers(1, 10_000),
    model=st.none() | models(),
    layout=st.none() | LAYOUTS,
    locations=LOCATIONS,
)


@given(WANTED)
def test_whatever_is_wanted_comes_over_as_it_was_sent(wanted: WantedState) -> None:
    assert decode_wanted(encode_wanted(wanted)) == wanted


def test_a_model_says_how_many_processors_are_wanted_where_nothing_else_does() -> None:
    assert decode_wanted(encode_wanted(WantedState(model=small()))).processors == len(small().processors)


def test_a_hundred_thousand_tasks_on_a_thousand_processors_fit_a_config_map() -> None:
    model = large(tasks=100_000, processors=1_000)
    nodes = {name: f"ip-10-0-{int(name) // 250}-{int(name) % 250}.internal" for name in model.processors}
    text = encode_wanted(WantedState("a" * 64, model=model, locations=nodes))
    assert len(text.encode()) < MOST_BYTES / 2
    assert decode_wanted(text).model == model


def test_what_no_config_map_takes_is_refused_with_what_would_help() -> None:
    with pytest.raises(MessageTooLargeError, match="shorten the names") as caught:
        encode_wanted(WantedState(spec_hash="x" * MOST_BYTES))
    assert caught.value.reason is Reason.TOO_LARGE


def test_a_field_of_a_later_version_is_left_alone() -> None:
    later = json.loads(encode_wanted(WantedState(processors=3))) | {"colour": "blue"}
    assert decode_wanted(json.dumps(later)) == WantedState(processors=3)


def test_a_message_that_needs_a_later_reader_is_refused_as_such() -> None:
    later = json.loads(encode_wanted(WantedState(processors=3))) | {"format": 2}
    with pytest.raises(UnreadableError) as caught:
        decode_wanted(json.dumps(later))
    assert caught.value.reason is Reason.NEWER_FORMAT


@pytest.mark.parametrize(
    "changed",
    [
        {"kind": "report"},
        {"format": "1"},
        {"format": 0},
        {"processors": -1},
        {"processors": 10_001},
        {"processors": "many"},
        {"model": "%%%"},
        {"model": "AAAA"},
        {"layout": "{}"},
        {"locations": "AAAA"},
    ],
)
def test_a_message_with_a_wrong_part_is_refused_as_damaged(changed: dict[str, object]) -> None:
    with pytest.raises(UnreadableError) as caught:
        decode_wanted(json.dumps(json.loads(encode_wanted(WantedState(model=small()))) | changed))
    assert caught.value.reason is Reason.DAMAGED_DATA


@pytest.mark.parametrize("text", ["", "null", "[]", "{", "[" * 100_000])
def test_what_is_no_message_is_refused_as_damaged(text: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        decode_wanted(text)
    assert caught.value.reason is Reason.DAMAGED_DATA
