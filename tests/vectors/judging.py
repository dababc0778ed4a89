"""How much a vector's strictness counts, and what was decided about those that leave a choice."""

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from tests.vectors.case import GROUPS, Case
from tests.vectors.fields import Fields

Run = Callable[[Fields], list[str]]


@dataclass(frozen=True, slots=True)
class Runner:
    """A group's module: what judges its vectors, and the tests that cover its recipes."""

    run: Run
    recipes: tuple[str, ...]


class Weight(Enum):
    BINDING = "has to pass"
    CHOICE = "has to pass or be listed, with the reason, in decided.md"
    REPORTED = "is reported and not judged"
    RECIPE = "is a recipe for a property test"


@dataclass(frozen=True, slots=True)
class NotJudged:
    """Why a vector says nothing about the product."""

    because: str


def weight(strictness: str) -> Weight:
    """Every strictness of the format; one that the format does not know is an error, not a pass."""
    if strictness in {"must", "should", "seed-vs-shipped", "shipped-exact"}:
        return Weight.BINDING
    if strictness in {"policy", "shipped-design"} or strictness.startswith("capability:"):
        return Weight.CHOICE
    if strictness == "informational":
        return Weight.REPORTED
    if strictness == "property":
        return Weight.RECIPE
    raise ValueError(f"the format knows no strictness {strictness!r}")


def judge(case: Case, runner: Runner, decided: Mapping[str, str]) -> list[str] | NotJudged:
    """What speaks against the product: differences, or that they do not count and why."""
    counts = weight(case.strictness)
    if counts is Weight.RECIPE:
        return NotJudged(f"a recipe, covered by {decided.get(case.id, ', '.join(runner.recipes))}")
    if counts is Weight.BINDING:
        exact = case.strictness != "shipped-exact"
        return differences_of(runner.run, case.vector if exact else only_invariants(case.vector))
    differences = differences_of(runner.run, case.vector)
    if counts is Weight.REPORTED:
        return NotJudged("informational: " + ("; ".join(differences) or "as expected"))
    if differences and case.id in decided:
        return NotJudged(f"decided otherwise: {decided[case.id]}")
    return differences


def differences_of(run: Run, vector: Mapping[str, Any]) -> list[str]:
    """What speaks against the product: differences, words that are not known, fields nobody looked at."""
    fields = Fields(vector)
    try:
        found = run(fields)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        return [f"cannot be run: {error!r}"]
    return found or [f"there is no rule for the field {path}" for path in fields.unread()]


def only_invariants(value: Any) -> Any:
    """A vector whose exact answer is one of many: each `expect` keeps what any right answer has."""
    if isinstance(value, list):
        return [only_invariants(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: only_invariants(item) for key, item in value.items() if key != "expect"}
    if "expect" in value:
        expect = value["expect"]
        kept["expect"] = {key: item for key, item in expect.items() if key == "invariants"}
    return kept


def decisions(file: Path = Path(__file__).parent / "decided.md") -> dict[str, str]:
    """The reasons in decided.md: lines of the form - `id`: reason."""
    lines = file.read_text(encoding="utf-8").splitlines()
    found = (re.fullmatch(r"- `(?P<id>[^`]+)`: (?P<reason>.+)", line) for line in lines)
    return {match["id"]: match["reason"] for match in found if match}


def runner_of(group: str) -> Runner:
    """The `run` and RECIPES of tests/vectors/groups/<group>.py; a group without a module is an error."""
    if group not in GROUPS:
        raise ValueError(f"no group of vectors is called {group!r}")
    module = importlib.import_module(f"tests.vectors.groups.{group}")
    return Runner(module.run, module.RECIPES)
