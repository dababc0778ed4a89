"""The functions on the page are run: they keep their contracts, and do what the page says of them."""

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from streamapp.author.proposal import PlanningInputs
from streamapp.placement.locations.location_providers import PodFacts
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp_runtime.driver.start.user_functions import (
    load_user_functions,
    location_by,
    proposed_with_answers,
)
from tests.harness.runs.chained_app import chained

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "own-functions.md").read_text("utf-8")


@pytest.fixture
def spread(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    (code,) = re.findall(r'^```python title="spread.py"\n(.*?)^```$', PAGE, re.M | re.S)
    module = ModuleType("spread")
    exec(compile(code, "spread.py", "exec"), module.__dict__)
    monkeypatch.setitem(sys.modules, "spread", module)
    return module


@pytest.mark.usefixtures("spread")
def test_the_examples_form_tasks_follow_a_growth_and_tell_a_location() -> None:
    app = chained(
        grouper="spread:by_region",
        config={ALGORITHM: "spread:from_the_last"},
        placement={"location": "spread:rack"},
    )
    functions = load_user_functions(app)
    assert functions.location is not None
    inputs = PlanningInputs({"events": 4}, algorithm=functions.algorithm, grouper=functions.grouper)
    first = proposed_with_answers(app, inputs)[0].assignment
    assert first is not None
    assert {task: [one.index for one in owned] for task, owned in first.tasks.items()} == {
        "east": [0, 2],
        "west": [1, 3],
    }
    grown_world = PlanningInputs({"events": 6}, first.layout, algorithm=functions.algorithm, grouper=functions.grouper)
    grown = proposed_with_answers(app, grown_world)[0].assignment
    assert grown is not None
    assert {task: [one.index for one in owned] for task, owned in grown.tasks.items()} == {
        "east": [0, 2, 5],
        "west": [1, 3, 4],
    }
    assert location_by(functions.location, PodFacts("exec-1", node="rack-7-node-2")) == "rack-7"
    assert not location_by(functions.location, PodFacts("exec-1"))
