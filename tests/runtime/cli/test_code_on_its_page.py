"""The class that the page on code shows runs as it stands there."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "guide" / "code.md"
COMMAND = Path(sys.executable).with_name("streamapp")
VIEWS = [{"user": "ann" if number % 3 else "bob", "page": str(number)} for number in range(45)]


def streamapp(folder: Path, *args: str, given: str | None = None) -> str:
    done = subprocess.run(
        [COMMAND, *args], cwd=folder, input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("process")
def test_the_class_of_the_page_counts_and_keeps_its_state(tmp_path: Path) -> None:
    for name, content in re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', PAGE.read_text("utf-8"), re.S):
        (tmp_path / name).write_text(content, encoding="utf-8")
    streamapp(tmp_path, "log", "create", "data", "every-tenth", "--partitions", "2")
    for views in (VIEWS[:20], VIEWS[20:]):
        lines = "\n".join(map(json.dumps, views))
        streamapp(tmp_path, "log", "write", "tenth.yaml", "views", "--partitions", "2", given=lines)
        streamapp(tmp_path, "run", "tenth.yaml", "--until-end", "--quiet")
    rows = map(json.loads, streamapp(tmp_path, "log", "read", "tenth.yaml", "every-tenth").splitlines())
    assert sorted((row["user"], row["pages"]) for row in rows) == [("ann", 13), ("ann", 30), ("bob", 15)]
