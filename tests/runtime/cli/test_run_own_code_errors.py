"""Errors of the app's own Python in `streamapp run`: the record, the user's frames, and none of ours."""

import json
import subprocess
import sys
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner

from streamapp.cli.main import root
from streamapp.protocol.termination import ExitCode
from streamapp.spec.parser import parse
from streamapp_runtime.cli.run_process.run_end import RunEnd
from streamapp_runtime.driver.start.operator_checks import unloadable_code
from tests.harness.runs.run_process import COMMAND

HIDDEN = ("streamapp_runtime", "pyspark", "py4j", "importlib")


@pytest.fixture
def payments(tmp_path: Path) -> Path:
    folder, sample = tmp_path / "payments", "sample/payments.jsonl"
    for place, *words in (
        (tmp_path, "init", "payments", "--template", "own-python"),
        (folder, "log", "write", "app.yaml", "payments", sample),
    ):
        with chdir(place):
            assert CliRunner().invoke(root, words).exit_code == 0
    return folder


def edited(folder: Path, old: str, new: str) -> None:
    module = folder / "spending.py"
    text = module.read_text("utf-8")
    assert old in text
    module.write_text(text.replace(old, new, 1), "utf-8")


def failed_run(folder: Path, *options: str) -> str:
    """What a run says on standard error that ends with the app's own fault."""
    done = subprocess.run(
        [COMMAND, "run", "app.yaml", "--until-end", *options],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert not any(hidden in done.stderr for hidden in HIDDEN)
    return done.stderr


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("lines", "error"),
    [
        ("state.own.get(5)", "AttributeError: 'int' object has no attribute 'cast'"),
        pytest.param("import sys; sys.exit(3)", "SystemExit: 3", marks=pytest.mark.nightly),
        pytest.param(
            'raise type("Mute", (Exception,), {"__repr__": lambda self: 1 / 0})("x")',
            "spending.Mute: x",
            marks=pytest.mark.nightly,
        ),
    ],
    ids=["a call of the product fails", "sys.exit", "a repr that raises"],
)
def test_the_record_is_named_and_the_users_frame_comes_first(payments: Path, lines: str, error: str) -> None:
    edited(payments, "        before = pc", f"        {lines}\n        before = pc")
    printed = failed_run(payments)
    end = printed[printed.index("app.yaml: the app's own code fails on a record: payments#0 at offset 0") :]
    trace = end[end.index("Traceback") :].splitlines()
    assert trace[1].startswith(f'  File "{payments}/spending.py", line ')
    assert trace[2].strip() == lines
    assert error in trace


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_an_error_that_a_library_met_before_does_not_stand_above_the_users_frames(payments: Path) -> None:
    edited(payments, "        before = pc", '        pc.cast(cards, "no_such_type")\n        before = pc')
    end = failed_run(payments).rpartition("app.yaml: ")[2]
    assert end.count("Traceback") == 1
    assert end.splitlines()[2].startswith(f'  File "{payments}/spending.py", line ')
    assert "ValueError: No type alias for no_such_type" in end


@pytest.mark.nightly
@pytest.mark.usefixtures("process")
def test_an_error_that_the_user_replaced_by_another_is_shown_with_it(payments: Path) -> None:
    replaced = (
        "        try:\n            {}['a']\n        except KeyError as error:\n"
        "            raise ValueError('no bank') from error\n"
    )
    edited(payments, "        before = pc", f"{replaced}        before = pc")
    end = failed_run(payments).rpartition("app.yaml: ")[2]
    assert "KeyError: 'a'" in end
    assert "ValueError: no bank" in end
    assert "site-packages" not in end


@pytest.mark.usefixtures("process")
@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("limit = = 1", "SyntaxError: invalid syntax"),
        pytest.param(
            "import nowhere_at_all",
            "ModuleNotFoundError: No module named 'nowhere_at_all'",
            marks=pytest.mark.nightly,
        ),
        pytest.param("import sys; sys.exit(4)", "SystemExit: 4", marks=pytest.mark.nightly),
    ],
)
def test_a_module_that_cannot_be_imported_is_shown_with_its_line(
    payments: Path, line: str, error: str
) -> None:
    edited(payments, "LIMIT = 1_000", f"{line}\nLIMIT = 1_000")
    printed = failed_run(payments)
    assert "app.yaml: spec.operators[0].process.python: spending:Spending cannot be loaded: " in printed
    assert f'  File "{payments}/spending.py", line 8' in printed
    assert f"    {line}\n" in printed
    assert error in printed


def test_a_machine_gets_the_trace_with_the_problem(payments: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    edited(payments, "LIMIT = 1_000", "import nowhere_at_all\nLIMIT = 1_000")
    monkeypatch.syspath_prepend(payments)
    monkeypatch.delitem(sys.modules, "spending", raising=False)
    (app,) = parse((payments / "app.yaml").read_text("utf-8")).apps
    run_end = RunEnd(ExitCode.CONFIG, problems=tuple(unloadable_code(app)))
    problem, outcome = map(json.loads, run_end.as_json())
    assert problem["reason"] == outcome["reason"] == "UserCodeFailed"
    assert "    import nowhere_at_all\n" in problem["message"]
    assert not any(hidden in problem["message"] for hidden in HIDDEN)
