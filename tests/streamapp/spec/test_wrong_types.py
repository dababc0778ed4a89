from collections.abc import Iterator
from copy import deepcopy
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.parser import parse, parse_data
from streamapp.spec.text.document import Path, dotted, walk
from tests.harness.core.all_cases import all_cases
from tests.harness.core.sample_resource import Data, at, changed, everything, told

VALUES: list[Any] = [None, 7, 1.5, True, "x", [], {}, [[]], {"a": 1}]
NAMED_BY_OTHERS = (
    ".name", ".system", ".from", ".stream", ".table", ".broadcast", ".remote", ".sideInputs",
    ".sendToTable", ".process", ".tables", ".columns", ".operators", ".streams", ".systems",
)  # fmt: skip
"""Fields on which rules across lists rest: what is wrong there may show where the name is used."""

PATHS = [path for path, _ in walk(everything()) if path]


def _is_related(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _rests_on_names(path: str) -> bool:
    """Whether the field, or the list whose entry it is, tells or uses a name."""
    return path.rstrip("0123456789[]").endswith(NAMED_BY_OTHERS)


def test_a_wrong_value_anywhere_is_refused_at_its_place() -> None:
    with all_cases() as case:
        for path, value in product(PATHS, VALUES):
            here = dotted(path)
            with case((here, value)):
                problems = parse_data(changed(path, value)).problems
                assert _rests_on_names(here) or all(_is_related(p.path, here) for p in problems), problems
                assert all(problem.message for problem in problems)


def test_a_number_is_never_taken_for_a_flag_nor_a_flag_for_a_number() -> None:
    with all_cases() as case:
        for path in (path for path in PATHS if isinstance(at(everything(), path), int)):
            other = 1 if isinstance(at(everything(), path), bool) else True
            for value in ["x", [], {}, 1.5, other]:
                with case((dotted(path), value)):
                    assert told(changed(path, value))


def test_a_wrong_type_in_the_head_is_told_in_words() -> None:
    assert told(changed("spec", [])) == ["spec: found a list of 0 where a mapping is expected"]
    assert told(changed("metadata", None)) == ["metadata: found nothing where a mapping is expected"]
    assert told(7) == ["found the number 7 where a StreamApp is expected"]
    assert told(None) == ["found nothing where a StreamApp is expected"]


class _Thing:
    """No JSON value."""


FOREIGN = [_Thing(), (1,), {1, 2}, b"x", float("nan"), {7: "x"}, "\ud800", 10**5_000]


@pytest.mark.parametrize("value", FOREIGN, ids=lambda value: type(value).__name__)
def test_a_python_object_in_a_program_is_told_with_its_place(value: object) -> None:
    (message,) = told(changed("spec.operators[0].filter.where", value))
    assert message.startswith("spec.operators[0].filter.where: ")


def test_a_value_that_holds_itself_is_refused() -> None:
    ring: Data = {}
    ring["ring"] = ring
    (message,) = told(changed("spec.config", ring))
    assert message == "nested more than 64 deep"


def _paths(data: Any) -> Iterator[Path]:
    return (path for path, _ in walk(data) if path)


@st.composite
def mutations(draw: st.DrawFn) -> Data:
    """The app after a few deletions, doublings and replacements of any of its parts."""
    data = everything()
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(sorted(_paths(data), key=str)))
        place: Any = data
        for step in path[:-1]:
            place = place[step]
        last: Any = path[-1]
        match draw(st.sampled_from(["delete", "double", "replace", "move"])):
            case "delete":
                del place[last]
            case "double" if isinstance(place, list):
                place.append(deepcopy(place[last]))
            case "double":
                place[draw(st.text(max_size=8))] = deepcopy(place[last])
            case "replace":
                place[last] = draw(json_values)
            case _:
                other = draw(st.sampled_from(sorted(_paths(data), key=str)))
                found: Any = data
                for step in other:
                    found = found[step]
                place[last] = deepcopy(found)
        if not any(True for _ in _paths(data)):
            break
    return data


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=8)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(mutations())
def test_an_app_spoilt_anyhow_gives_an_app_or_messages_on_one_line_each(data: Data) -> None:
    parsed = parse_data(data)
    assert bool(parsed.apps) != bool(parsed.problems)
    assert all("\n" not in str(problem) for problem in parsed.problems)


@given(json_values)
def test_any_document_at_all_is_refused_without_an_exception(data: Any) -> None:
    assert parse_data(data).problems
    assert parse(str(data)).problems
