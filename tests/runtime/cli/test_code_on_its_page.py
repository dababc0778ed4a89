"""The class that the page on code shows runs as it stands there."""

import re
from pathlib import Path

import pytest

from streamapp.spec.parser import parse
from tests.harness.runs.app_runs import inputs, read_all, write_all
from tests.harness.runs.in_process_run import InProcessRun

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "code.md"
VIEWS = [{"user": "ann" if number % 3 else "bob", "page": str(number)} for number in range(45)]


def test_the_class_of_the_page_counts_and_keeps_its_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = dict(re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', PAGE.read_text("utf-8"), re.S))
    (tmp_path / "tenth.py").write_text(parts["tenth.py"], encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    (app,) = parse(parts["tenth.yaml"]).apps
    run = InProcessRun(app, tmp_path / "data")
    run.system.create("every-tenth", 2)
    for views in (VIEWS[:20], VIEWS[20:]):
        write_all(run.system, "views", inputs(views, "user"), 2)
        run.start()
        run.advance(1)
        run.loop.release()
    rows = [record.value for record in read_all(run.system, "every-tenth")]
    assert sorted((row["user"], row["pages"]) for row in rows) == [("ann", 13), ("ann", 30), ("bob", 15)]
    run.end()
    run.system.close()
