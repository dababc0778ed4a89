"""Every vector is a test; `run(vector)` of `groups/<group>.py` judges it, by the differences it returns."""

import json
from pathlib import Path

import pytest

from tests.vectors.case import GROUPS, Case, cases, files
from tests.vectors.judging import NotJudged, decisions, judge, runner_of


@pytest.mark.parametrize("file", [pytest.param(file, id=file.name) for file in files()])
def test_a_file_is_of_a_known_group_and_holds_as_many_vectors_as_it_says(file: Path) -> None:
    table = json.loads(file.read_text(encoding="utf-8"))
    ids = [vector["id"] for vector in table["vectors"]]
    assert table.keys() <= {"schema_version", "group", "normative", "count", "vectors"}
    assert table["schema_version"] == 1
    assert table["group"] in GROUPS
    assert table["count"] == len(ids) == len(set(ids))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.id) for case in cases()])
def test_a_vector_is_met(case: Case) -> None:
    verdict = judge(case, runner_of(case.group), decisions())
    if isinstance(verdict, NotJudged):
        pytest.skip(f"not judged: {verdict.because}")
    assert verdict == [], f"{case.id} ({case.strictness}): {case.vector['title']}"
