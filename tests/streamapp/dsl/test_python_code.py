"""Functions and classes in a program, where the resource has their names."""

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from streamapp.cli.main import root
from streamapp.dsl import App, Flow, Placement, Remote, SideInput, python_reference
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.spec.value_types.python_references import PythonReferenceError

HERE = __name__


def score(batch: object) -> object:
    return batch


class Totals:
    def process(self, batch: object, state: object, out: object) -> None:
        raise NotImplementedError


def _words() -> tuple[App, Flow]:
    app = App(
        "small",
        grouper=score,
        config={ALGORITHM: score},
        placement=Placement.model_validate({"location": score}),
    )
    return app, app.embedded("main", path="./data").stream("words", columns="word STRING")


def test_functions_and_classes_stand_in_the_resource_by_their_names() -> None:
    app, words = _words()
    words.map("scored", python=score, columns="n INT")
    words.flat_map("many", python=score, columns="n INT")
    words.process("totals", python=Totals)
    app.table("users", side_inputs=[SideInput.model_validate({"stream": "words", "python": score})])
    stock = app.table("stock", remote=Remote.model_validate({"python": Totals}))
    words.join_table("priced", stock)
    parsed = app.parsed()
    assert parsed.problems == ()
    spec = parsed.apps[0].spec
    assert spec.grouper == f"{HERE}:score"
    assert spec.config == {ALGORITHM: f"{HERE}:score"}
    assert spec.placement.location == f"{HERE}:score"
    codes = [getattr(operator.body, "python", None) for operator in spec.operators[:3]]
    assert codes == [f"{HERE}:score", f"{HERE}:score", f"{HERE}:Totals"]
    assert spec.tables[0].side_inputs[0].python == f"{HERE}:score"
    assert spec.tables[1].remote is not None
    assert spec.tables[1].remote.python == f"{HERE}:Totals"


def _made_inside() -> Any:
    def inner(batch: object) -> object:
        return batch

    return inner


@pytest.mark.parametrize(
    ("code", "finding"),
    [
        (lambda batch: batch, "found a lambda, which has no name for executors to find"),
        (
            _made_inside(),
            "found inner, which is defined inside _made_inside, where executors cannot find it",
        ),
        (
            Totals.process,
            "found process, which is defined inside Totals, where executors cannot find it",
        ),
        (Totals().process, "which executors cannot find by a name"),
        (partial(score), "which executors cannot find by a name"),
    ],
)
def test_what_executors_could_not_find_is_refused_where_it_is_given(code: Any, finding: str) -> None:
    _, words = _words()
    with pytest.raises(PythonReferenceError, match="define a function or class at the top level") as refusal:
        words.map("scored", python=code, columns="n INT")
    assert finding in str(refusal.value)


def test_a_name_stays_as_it_is() -> None:
    assert python_reference("shop.scores:score") == "shop.scores:score"


PROGRAM = """
from streamapp.dsl import App

def score(batch):
    return batch

class Totals:
    def process(self, batch, state, out):
        pass

app = App("scores")
log = app.embedded("main", path="./data")
words = log.stream("words", columns="word STRING")
words.map("scored", python=score, columns="n INT").process("totals", python=Totals)
"""


def test_what_the_program_defines_itself_is_named_by_its_file(tmp_path: Path) -> None:
    program = tmp_path / "scores.py"
    program.write_text(PROGRAM)
    rendered = CliRunner().invoke(root, ["render", str(program)])
    assert rendered.exit_code == 0, rendered.output
    assert "python: 'scores:score'" in rendered.output
    assert "python: 'scores:Totals'" in rendered.output


@pytest.mark.usefixtures("process")
def test_it_has_the_same_name_when_the_program_is_started_by_itself(tmp_path: Path) -> None:
    program = tmp_path / "scores.py"
    program.write_text(PROGRAM + "print([o.body.python for o in app.parsed().apps[0].spec.operators])\n")
    ended = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=True)
    assert (ended.stdout, ended.stderr) == ("['scores:score', 'scores:Totals']\n", "")


def test_a_program_whose_file_nobody_can_import_is_told_so(tmp_path: Path) -> None:
    program = tmp_path / "my-scores.py"
    program.write_text(PROGRAM)
    checked = CliRunner().invoke(root, ["check", str(program)])
    assert checked.exit_code == 1
    assert (
        "line 14: the module of score has no name that an executor could import; put it into a separate "
        "file, and import it from there"
    ) in checked.output
