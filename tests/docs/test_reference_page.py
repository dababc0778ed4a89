"""The page is held against the models themselves, walked here by other means than the page is written by."""

import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from streamapp.spec.parser import parse_data
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import KEYS
from streamapp.spec.resource.field_marks import Effect
from streamapp.spec.resource.status import Status
from streamapp.spec.schema.fields import parts
from streamapp.spec.schema.reason_sentences import SENTENCES
from streamapp.spec.schema.reference_page import reference_page
from streamapp.spec.value_types import durations

PAGE = reference_page()
FIELDS = {field.path: field for part in parts() for field in part.fields}


def section(path: str) -> str:
    start = PAGE.index(f"## {path} {{ #")
    return PAGE[start : PAGE.index("\n## ", start + 1)]


def row(part: str, field: str) -> str:
    (found,) = [line for line in section(part).splitlines() if line.startswith(f"| `{field}`")]
    return found


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        for info in annotation.model_fields.values():
            yield from models(info.annotation)
    for inner in get_args(annotation):
        yield from models(inner)


@pytest.mark.parametrize(
    "model", dict.fromkeys([*models(StreamApp), *models(Status)]), ids=lambda model: model.__name__
)
def test_every_field_of_a_part_stands_on_the_page_with_what_the_part_says_of_it(
    model: type[BaseModel],
) -> None:
    for info in model.model_fields.values():
        named = [line for line in PAGE.splitlines() if line.startswith(f"| `{info.alias}`")]
        assert any((info.description or "").partition("`")[0] in line for line in named)


def test_every_part_has_one_section() -> None:
    sections = re.findall(r"^## ([\w.\[\]]+) \{ #", PAGE, re.M)
    assert len(sections) == len(set(sections))
    assert {"spec", "spec.operators[].joinTable", "spec.placement", "status.driver"} <= set(sections)


def test_every_link_within_the_page_leads_somewhere() -> None:
    anchors = set(re.findall(r"\{ #([\w.-]+) \}", PAGE)) | {"forms-of-text"}
    assert set(re.findall(r"\]\(#([\w.-]+)\)", PAGE)) <= anchors


@pytest.mark.parametrize(
    ("part", "field", "facts"),
    [
        ("spec", "processors", ("a whole number from 1 to 10,000", "| `1` |", "| live |")),
        ("spec", "mode", ("`stream` or `batch`", "| `stream` |", "| replan |")),
        ("spec", "applicationId", ("at most 120 characters", "| unset |", "| refused |")),
        ("spec", "suspend", ("`true` or `false`", "| `false` | live |")),
        ("spec", "operators", ("a list of 1 or more parts; at most 512 in a cluster", "| *required* |")),
        ("spec", "placement", ("[a part](#spec.placement)", "its own defaults")),
        ("spec.operators[].join", "from", ("a list of exactly 2 texts",)),
        ("spec.operators[].join", "within", ("from 1ms to 3650d", "| *required* | replan |")),
        ("spec.tables[]", "store", ("`rocksdb`, `lmdb` or `memory`", "| `rocksdb` | refused |")),
        ("spec.tables[]", "changelog", ("restored; true, but for side inputs", "| unset |")),
        ("spec.streams[].eventTime", "idleQuorum", ("a number from 0 to 1", "| `0.5` |")),
        ("spec.placement", "location", ("label:&lt;key>", "| `node` |")),
    ],
)
def test_a_field_is_told_with_its_bounds_default_and_effect(
    part: str, field: str, facts: tuple[str, ...]
) -> None:
    assert [fact for fact in facts if fact not in row(part, field)] == []


def test_every_field_below_the_spec_tells_what_a_change_does() -> None:
    assert [path for path, field in FIELDS.items() if path.startswith("spec.") and not field.effect] == []
    assert FIELDS["spec.operators[].filter.where"].effect is Effect.REPLAN  # as that of all operators


@pytest.mark.parametrize("path", [path for path, field in FIELDS.items() if ", from " in field.allowed])
def test_a_duration_is_refused_just_outside_the_range_told(path: str) -> None:
    most = FIELDS[path].allowed.rpartition(" to ")[2]
    beyond = f"{durations.milliseconds(most) // 1_000 + 1}s"
    steps = path.split(".")
    value: Any = beyond
    for step in reversed(steps):
        value = {step.removesuffix("[]"): [value] if step.endswith("[]") else value}
    head = {"apiVersion": "streamapp.dev/v1alpha1", "kind": "StreamApp"}
    said = [problem.message for problem in parse_data(head | value).problems]
    assert any(beyond in message and most in message for message in said)


def test_every_key_of_the_config_stands_on_the_page() -> None:
    assert [key for key in KEYS if f"| `{key}` |" not in PAGE] == []


def test_every_reason_has_one_sentence() -> None:
    assert set(SENTENCES) == set(Reason)
    assert [
        reason for reason, sentence in SENTENCES.items() if f"| `{reason}` | {sentence} |" not in PAGE
    ] == []
    assert [sentence for sentence in SENTENCES.values() if sentence.count(". ") or sentence[-1] != "."] == []


def test_no_row_of_a_table_has_a_column_too_many() -> None:
    for line in PAGE.splitlines():
        if line.startswith("| `") and "](#" not in line:
            assert len(re.split(r"(?<!\\)\|", line)) in {4, 7}, line
