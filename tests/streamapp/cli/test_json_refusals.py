"""A verb that was asked for JSON answers in JSON also where it refuses, and its exit code stays."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

Run = Callable[..., Result]

WRONG = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: wrong, namespace: shop}
spec:
  systems: [{name: main, embedded: {path: data}}]
  streams:
    - {name: views, system: main, key: user, columns: "user STRING"}
    - {name: out, system: main}
  operators:
    - {name: real, filter: {from: views, where: "usr = 'ann'"}}
    - {name: sent, sendTo: {from: real, stream: out}}
"""


@pytest.fixture
def app(tmp_path: Path) -> Path:
    file = tmp_path / "app.yaml"
    file.write_text(WRONG, "utf-8")
    return file


def _problem(path: str, line: int) -> dict[str, Any]:
    return {"reason": "InvalidSpec", "path": path, "line": line}


UNKNOWN_NAME = WRONG.replace("from: real", "from: reel")


@pytest.mark.parametrize(
    "verb", [("check",), ("plan",), ("tasks",), ("place", "--processors", "2"), ("render",)]
)
def test_what_is_wrong_in_an_app_is_the_answer(app: Path, run: Run, verb: tuple[str, ...]) -> None:
    app.write_text(UNKNOWN_NAME, "utf-8")
    name, *options = verb
    result = run(name, str(app), *options, "-o", "json")
    assert result.exit_code == 1
    (problem,) = json.loads(result.stdout)["problems"]
    assert problem.pop("message").endswith('did you mean "real"?')
    assert problem == _problem("spec.operators[1].sendTo.from", 12)
    assert run(name, str(app), *options).stdout == ""


def test_what_only_a_start_would_refuse_rejects_the_plan(app: Path, run: Run) -> None:
    result = run("plan", str(app), "--set", "views=4", "-o", "json")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["outcome"] == "rejected"
    (error,), (problem,) = document["errors"], document["problems"]
    assert (error["operator"], error["path"], error["line"]) == ("real", problem["path"], problem["line"])
    assert problem.pop("message").startswith('no column "usr"')
    assert problem == _problem("spec.operators[0].filter.where", 11)


def test_a_check_answers_with_apps_and_warnings(app: Path, run: Run) -> None:
    app.write_text(
        WRONG.replace("usr =", "user =").replace("from: real, stream", "from: views, stream"), "utf-8"
    )
    result = run("check", str(app), "-o", "json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert document["apps"] == [
        {"namespace": "shop", "name": "wrong", "streams": 2, "tables": 0, "operators": 2}
    ]
    assert [warning["path"] for warning in document["warnings"]] == ["spec.operators[0].filter"]


@pytest.mark.parametrize(
    "words",
    [
        ("state", "list", "nowhere"),
        ("state", "read", "nowhere", "users"),
        ("state", "gc", "nowhere"),
        ("log", "list", "nowhere"),
        ("log", "read", "nowhere", "views"),
        ("plan", "nowhere.yaml"),
        ("status", "page-views", "--kubeconfig", "nowhere"),
    ],
)
def test_a_failure_of_one_sentence_is_a_problem_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Run, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    in_text = run(*words)
    in_json = run(*words, "-o", "json")
    assert in_json.exit_code == in_text.exit_code != 0
    assert in_json.stderr == in_text.stderr
    (problem,) = json.loads(in_json.stdout)["problems"]
    assert problem["message"] in " ".join(in_text.stderr.split())
