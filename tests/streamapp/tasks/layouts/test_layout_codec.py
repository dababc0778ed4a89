import hashlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamapp.spec.reasons import Reason
from streamapp.tasks.groupers.grouper import BY_STREAM_PARTITION
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_codec import decode_layout, encode_layout
from streamapp.tasks.refusal import Refusal
from tests.harness.core.random_layouts import LAYOUTS
from tests.harness.core.task_forming import formed

EXAMPLE = formed({"views": 8}, formed({"views": 4}, run="r1"), now=12.5).layout


@settings(deadline=None)
@given(LAYOUTS)
def test_a_layout_comes_back_as_it_was(layout: Layout) -> None:
    assert decode_layout(encode_layout(layout)) == layout


@given(st.integers(0), st.integers(0, 127))
def test_any_changed_character_is_seen(place: int, other: int) -> None:
    text = encode_layout(EXAMPLE)
    place %= len(text)
    changed = text[:place] + chr(other) + text[place + 1 :]
    found = decode_layout(changed)
    assert found == EXAMPLE if json_or_none(changed) == json.loads(text) else isinstance(found, Refusal)


@given(st.integers(0))
def test_a_text_that_ends_too_early_is_seen(length: int) -> None:
    text = encode_layout(EXAMPLE)
    found = decode_layout(text[: length % len(text)])
    assert isinstance(found, Refusal)
    assert found.reason is Reason.DAMAGED_DATA


@given(
    st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=5).map(json.dumps)
)
def test_what_is_no_layout_is_refused(text: str) -> None:
    assert isinstance(decode_layout(text), Refusal)


def test_nesting_without_end_is_refused() -> None:
    assert isinstance(decode_layout("[" * 200_000), Refusal)


def test_a_later_format_is_told_from_damage() -> None:
    found = decode_layout(sealed({"something": "else"}, version=2))
    assert isinstance(found, Refusal)
    assert found.reason is Reason.NEWER_FORMAT
    assert "format 2" in found.message


BODY = json.loads(encode_layout(EXAMPLE))["layout"]
VIEWS = BODY["streams"]["views"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"run": 3},
        {"surprise": 1},
        {"everywhere": [4]},
        {"everywhere": [-1]},
        {"tasks": [["Partition ", 0, 4, ""], ["Partition ", 3, 1, ""]]},
        {"tasks": [["Partition ", 0, 9_000_000, ""], ["P", 0, 9_000_000, ""]]},
        {"changelog": [[0, 3, 1]]},
        {"changelog": [[0, 9_000_000, 1], [0, 9_000_000, 1]]},
        {"streams": {"views": {**VIEWS, "owners": [[0, 3, 1]]}}},
        {"streams": {"views": {**VIEWS, "owners": [[1, 4, 1]]}}},
        {"streams": {"views": {**VIEWS, "owners": [[-2, 1, 0], [0, 3, 1]]}}},
        {"streams": {"views": {**VIEWS, "folds": [[0, 3, 1]]}}},
        {"streams": {"views": {**VIEWS, "folds": [[1, 4, 1]]}}},
        {"splits": [{**BODY["splits"][0], "offsets": [1]}]},
        {"splits": [{**BODY["splits"][0], "parting": "odd"}]},
    ],
)
def test_a_text_edited_by_hand_that_contradicts_itself_is_refused(wrong: dict[str, Any]) -> None:
    found = decode_layout(sealed({**BODY, **wrong}))
    assert isinstance(found, Refusal)
    assert found.reason is Reason.DAMAGED_DATA


def test_a_hundred_thousand_partitions_fit_in_a_few_lines() -> None:
    first = formed({"clicks": 50_000, "views": 50_000}, grouper=BY_STREAM_PARTITION)
    grown = formed({"clicks": 50_000, "views": 100_000}, first, grouper=BY_STREAM_PARTITION)
    text = encode_layout(grown.layout)
    assert decode_layout(text) == grown.layout
    assert len(text) < 2_000


def sealed(body: Any, version: int = 1) -> str:
    """A text with a right checksum, made here by the rule that the format promises."""
    whole = json.dumps([version, body], sort_keys=True, separators=(",", ":"))
    return json.dumps(
        {"format": version, "checksum": hashlib.sha256(whole.encode()).hexdigest(), "layout": body}
    )


def json_or_none(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
