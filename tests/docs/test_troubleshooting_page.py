"""Every reason that a user can see has a row on the page, with something to do."""

import re
from enum import StrEnum
from pathlib import Path

import pytest

from streamapp.spec.reasons import Reason
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.status.app_condition import ConditionType

PAGE = (Path(__file__).parents[2] / "docs/guide/troubleshooting.md").read_text("utf-8")
SECTIONS: list[tuple[str, type[StrEnum]]] = [("Condition reasons", ConditionReason), ("Errors", Reason)]


def rows(section: str) -> list[list[str]]:
    text = PAGE.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


@pytest.mark.parametrize(("section", "reasons"), SECTIONS, ids=lambda value: str(value))
def test_every_reason_has_one_row_and_every_row_a_reason(section: str, reasons: type[StrEnum]) -> None:
    assert sorted(row[0].strip("`") for row in rows(section)) == sorted(reason.value for reason in reasons)


@pytest.mark.parametrize("section", [section for section, _ in SECTIONS])
def test_every_row_says_what_to_do(section: str) -> None:
    assert [row[0] for row in rows(section) if not row[-1].endswith(".")] == []


def test_a_row_names_only_types_of_conditions() -> None:
    named = {name for row in rows("Condition reasons") for name in re.findall(r"`(\w+)`", row[1])}
    assert named <= {type_.value for type_ in ConditionType}
