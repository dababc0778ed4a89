"""Every wrong input of the tables is refused, and what is said of it is judged."""

import json
import shlex
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from streamapp.cli.main import root
from streamapp.dsl.plan_view import plan_view
from streamapp.spec.parser import parse
from streamapp_operator.reconciler.facts.generation_validation import validate_generation
from tests.bad_inputs.answer_verdict import Verdict, verdict
from tests.bad_inputs.command_files import APP, write_command_files
from tests.harness.core.all_cases import all_cases

FOLDER = Path(__file__).parent
MOST_UNCLEAR = 0.05
Row = dict[str, Any]

verdicts: Counter[Verdict] = Counter()


def rows(table: str) -> list[Row]:
    found: list[Row] = yaml.safe_load((FOLDER / f"{table}.yaml").read_text(encoding="utf-8"))
    return found


@cache
def app() -> Row:
    found: Row = yaml.safe_load(APP.read_text(encoding="utf-8"))
    return found


def edited(at: str, row: Row) -> Row:
    """The app with another value at a field; entries of lists go by their names, + is a further one."""
    data = deepcopy(app())
    place: Any = data
    *way, last = at.split(".")
    for step in way:
        place = place[entry(place, step)] if isinstance(place, list) else place.setdefault(step, {})
    if last == "+":
        place.append(row["value"])
    elif "value" not in row:
        place.pop(entry(place, last) if isinstance(place, list) else last)
    else:
        place[entry(place, last) if isinstance(place, list) else last] = row["value"]
    return data


def entry(entries: list[Row], step: str) -> int:
    if step.isdigit():
        return int(step)
    return next(index for index, each in enumerate(entries) if each["name"] == step)


def invoked(*args: str, given: str | None = None) -> Result:
    nowhere = {"JAVA_HOME": "/nowhere", "KUBECONFIG": "/nowhere"}
    return CliRunner().invoke(root, args, input=given, prog_name="streamapp", env=nowhere)


def judge(result: Result, says: str) -> None:
    """One clear sentence, and that one. Unclear ones are counted; there may be a few."""
    found = verdict(result)
    verdicts[found] += 1
    assert found not in {Verdict.TRACEBACK, Verdict.SILENT}, f"{found}: {result.exception!r} {result.output}"
    assert says in result.output


def ids(table: str, field: str) -> Iterator[str]:
    for row in rows(table):
        yield f"{row[field]} {row.get('value', '')}"[:80]


def test_a_wrong_field() -> None:
    with all_cases() as case:
        for row in rows("resources"):
            with case((row["at"], row.get("value"))):
                judge(invoked("check", "-", given=yaml.safe_dump(edited(row["at"], row))), row["says"])


def test_a_wrong_expression() -> None:
    with all_cases() as case:
        for row in rows("expressions"):
            data = edited("spec.operators.real.filter.where", {"value": row["where"]})
            with case(row["where"]):
                judge(invoked("check", "-", given=yaml.safe_dump(data)), row["says"])


def test_what_a_check_refuses_a_plan_a_notebook_and_the_operator_refuse_with_the_same_words() -> None:
    expressions = [
        {"at": "spec.operators.real.filter.where", "value": row["where"]} for row in rows("expressions")
    ]
    with all_cases() as case:
        for row in [*rows("resources"), *expressions]:
            with case((row["at"], row.get("value"))):
                data = edited(row["at"], row)
                if not isinstance(metadata := data.get("metadata"), dict):
                    continue  # which no API server hands on
                text = json.dumps(data, indent=1, default=str)
                data = json.loads(text)
                refused = json.loads(invoked("check", "-", "-o", "json", given=text).stdout)
                planned = json.loads(invoked("plan", "-", "-o", "json", given=text).stdout)
                assert planned["problems"] == refused["problems"]
                assert planned.get("outcome") != "accepted"
                parsed = parse(text)
                judged = validate_generation({**data, "metadata": {**metadata, "generation": 1}})
                for problems in (
                    plan_view("app", parsed, 4).problems,
                    (*judged.newest.problems, *judged.start_problems),
                ):
                    assert {(problem.path, problem.message) for problem in problems} == {
                        (problem["path"], problem["message"]) for problem in refused["problems"]
                    }


def test_a_text_that_is_no_app() -> None:
    with all_cases() as case:
        for row in rows("texts"):
            with case(row["text"]):
                judge(invoked("check", "-", given=row["text"]), row["says"])


@pytest.mark.usefixtures("loopback")
@pytest.mark.parametrize("row", rows("commands"), ids=ids("commands", "run"))
def test_a_wrong_command_line(row: Row, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_command_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    result = invoked(*shlex.split(row["run"]))
    judge(result, row["says"])
    assert result.exit_code == row["exit"]
    assert sorted(tmp_path.iterdir()) == before, "what is refused leaves nothing behind"


def test_there_are_many_and_few_are_unclear() -> None:
    tables = [rows(table) for table in ("resources", "expressions", "texts", "commands")]
    assert sum(map(len, tables)) >= 400
    assert verdicts[Verdict.UNCLEAR] <= MOST_UNCLEAR * max(verdicts.total(), 1), verdicts
