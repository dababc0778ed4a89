"""How much a vector's strictness counts, and what was decided about those that leave a choice."""

import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from tests.vectors.case import Case

Run = Callable[[dict[str, Any]], list[str]]


@dataclass(frozen=True, slots=True)
class Runner:
    """A group's module: what judges its vectors, and the tests that cover its recipes."""

    run: Run
    recipes: str


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
        return NotJudged(f"a recipe, covered by {decided.get(case.id, runner.recipes)}")
    if counts is Weight.BINDING:
        exact = case.strictness != "shipped-exact"
        return runner.run(case.vector if exact else only_invariants(case.vector))
    differences = _differences(runner, case.vector)
    if counts is Weight.REPORTED:
        return NotJudged("informational: " + ("; ".join(differences) or "as expected"))
    if differences and case.id in decided:
        return NotJudged(f"decided otherwise: {decided[case.id]}")
    return differences


def _differences(runner: Runner, vector: dict[str, Any]) -> list[str]:
    """A vector that leaves a choice may use words that its group does not know: that is a difference too."""
    try:
        return runner.run(vector)
    except (LookupError, TypeError, ValueError) as error:
        return [f"cannot be run: {error!r}"]


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


def runner_of(group: str) -> Runner | None:
    """The `run` and RECIPES of tests/vectors/groups/<group>.py; none where the group has no module yet."""
    name = f"tests.vectors.groups.{group}"
    if importlib.util.find_spec(name) is None:
        return None
    module = importlib.import_module(name)
    return Runner(module.run, getattr(module, "RECIPES", "no property test that the group names"))
