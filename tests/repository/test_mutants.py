"""The faults that `make mutants` plants: each is a change of what runs, and probes say which test runs it."""

import ast
import logging
from pathlib import Path
from typing import Any, Final

import pytest

from tests.harness.mutants.__main__ import report
from tests.harness.mutants.coverage_map import importers, read_hits, shared_words
from tests.harness.mutants.faults import FaultKind, chosen_faults, faults_of
from tests.harness.mutants.mutant_tree import HITS, probed
from tests.harness.mutants.verdicts import Verdict, VerdictFile, killer

SMALL: Final = "tests/test_small.py::test_small"
LARGE: Final = "tests/test_large.py::test_large[a b]"
SOURCE: Final = '''"""A docstring is passed over."""

from __future__ import annotations

LIMIT = 10


def chosen(size: int, name: str = "any name") -> str:
    """Chosen."""
    if size < LIMIT:
        record(name, size)
    elif name == "ä" and size:
        log.info("left out", extra=size)
    return f"{size + 1}" if name else "none"
'''


def test_each_fault_changes_what_runs() -> None:
    planted = {fault.planted(SOURCE).strip() for fault in faults_of("chosen.py", SOURCE)}
    changes = {
        next(
            new for new, old in zip(text.splitlines(), SOURCE.splitlines(), strict=False) if new != old
        ).strip()
        for text in planted
    }
    assert changes == {
        "LIMIT = (10 + 1)",
        "if False:",
        "if ((size) >= (LIMIT)):",
        "if ((size) <= (LIMIT)):",
        "pass",
        "record(size, name)",
        "elif False:",
        'elif ((name) != ("ä")) and size:',
        "elif name == 'ää' and size:",
        'return f"{size + 1}" if False else "none"',
        "return f\"{size + 1}\" if name else 'nonenone'",
    }


def test_a_fault_of_each_kind_can_be_planted_into_the_product_and_the_seed_chooses() -> None:
    root = Path(__file__).parents[2]
    rooms = ["streamapp/tasks"]
    faults = chosen_faults(root, seed=1, count=60, rooms=rooms)
    assert faults == chosen_faults(root, seed=1, count=60, rooms=rooms)
    assert {fault.kind for fault in faults} == set(FaultKind)
    for fault in faults:
        ast.parse(fault.planted((root / fault.path).read_text(encoding="utf-8")))


def test_a_probe_notes_the_test_that_runs_a_statement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = faults_of("chosen.py", SOURCE)
    inside = {fault.statement: [number] for number, fault in enumerate(faults) if fault.function}
    names: dict[str, Any] = {"record": print, "log": logging}
    monkeypatch.setenv(HITS, str(tmp_path))
    exec(compile(probed(SOURCE, inside), "chosen.py", "exec"), names)  # noqa: S102 - the text above
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "tests/test_small.py::test_small (call)")
    names["chosen"](1)
    monkeypatch.setenv("PYTEST_CURRENT_TEST", "tests/test_large.py::test_large[a b] (call)")
    names["chosen"](100)
    noted = {
        SOURCE.splitlines()[fault.statement - 1].strip(): tests
        for number, fault in enumerate(faults)
        if (tests := read_hits(tmp_path).get(number))
    }
    assert noted == {
        "if size < LIMIT:": [LARGE, SMALL],
        "record(name, size)": [SMALL],
        'return f"{size + 1}" if name else "none"': [LARGE, SMALL],
    }


def test_a_module_without_functions_is_covered_by_what_runs_its_importers() -> None:
    sources = {
        "streamapp/limits.py": "LIMIT = 1",
        "streamapp/reader.py": "from streamapp.limits import LIMIT",
        "runtime/streamapp_runtime/lane.py": "from streamapp import limits",
        "streamapp/other.py": "import os",
    }
    assert importers(sources, "streamapp/limits.py") == [
        "streamapp/reader.py",
        "runtime/streamapp_runtime/lane.py",
    ]


def test_the_tests_of_a_module_come_before_others_that_run_it() -> None:
    module = "operator/streamapp_operator/reconciler/objects/configuration_versions.py"
    near = "tests/operator/reconciler/test_changed_configuration.py::test_a_restart"
    assert shared_words(module, near) == 2  # reconciler, configuration
    assert shared_words(module, "tests/operator/cli/test_why_command.py::test_versions_are_said[1]") == 1


def test_the_report_counts_by_room_and_names_what_survived() -> None:
    faults = faults_of("streamapp/tasks/chosen.py", SOURCE)[:3]
    ends = [("unit", "tests/test_a.py::test_a"), ("", ""), ("no test runs it", "")]
    verdicts = {fault.name: Verdict(fault.name, *end) for fault, end in zip(faults, ends, strict=True)}
    lines = [line.split() for line in report(faults, verdicts, ["unit"])]
    assert lines[1:3] == [
        ["streamapp/tasks", "3", "1", "1", "1"],
        ["all", "3", "1", "1", "1"],
    ]
    assert {line[0] for line in lines[4:]} == {"survived", "no"}


def test_a_run_goes_on_where_one_of_the_same_commit_and_tiers_ended(tmp_path: Path) -> None:
    path, verdict = tmp_path / "verdicts.jsonl", Verdict("a.py:1 one fault", "unit", SMALL)
    VerdictFile(path, "1f", ["unit"]).add(verdict)
    VerdictFile(path, "2e", ["unit"]).add(Verdict("a.py:2 another", "unit", LARGE))
    assert VerdictFile(path, "1f", ["unit"]).read() == {verdict.fault: verdict}
    assert VerdictFile(path, "1f", ["unit", "long"]).read() == {}


@pytest.mark.parametrize(
    ("noticed", "broken", "expected"),
    [
        ([LARGE], [], LARGE),
        ([], [SMALL], ""),
        ([LARGE], [SMALL], LARGE),
        ([], [], ""),
    ],
)
def test_a_test_notices_a_fault_if_it_passes_without(
    noticed: list[str], broken: list[str], expected: str
) -> None:
    def first_failure(tests: Any, failing: list[str]) -> str | None:
        return next((test for test in tests if test in failing), None)

    assert expected == killer(
        [SMALL, LARGE],
        lambda tests: first_failure(tests, noticed + broken),
        lambda tests: first_failure(tests, broken) is None,
    )


def test_a_run_that_ends_by_itself_is_halved_until_it_tells_who_noticed() -> None:
    tests = [SMALL, LARGE, "tests/test_third.py::test_third"]

    def outcome(chosen: Any) -> str | None:
        if SMALL in chosen and len(chosen) > 1:
            return "the run does not end"
        return LARGE if LARGE in chosen else None

    assert killer(tests, outcome, lambda chosen: LARGE in chosen and SMALL not in chosen) == LARGE
