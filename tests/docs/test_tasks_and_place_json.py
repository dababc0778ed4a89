import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from streamapp.cli.main import root

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/reference/tasks-and-place-json.md").read_text()
NAMED = ("tasks", "processors")


def fields(value: Any, path: str = "") -> Iterator[str]:
    """Every field of a document in the page's spelling; what is named by the app is a star."""
    if isinstance(value, dict) and path != "layout":
        for name, inner in value.items():
            step = f"{path}.*" if path in NAMED else f"{path}.{name}".lstrip(".")
            if path not in NAMED:
                yield step
            yield from fields(inner, step)
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        yield from fields(value[0], f"{path}[]")


def test_every_field_of_both_answers_stands_on_the_page() -> None:
    told = set(re.findall(r"`([^`]+)`", PAGE))
    app = ROOT / "examples/page-views"
    common = [str(app / "app.yaml"), "--catalog", str(app / "topics.yaml"), "-o", "json"]
    for verb in ("tasks", "place"):
        answer = json.loads(CliRunner().invoke(root, [verb, *common]).output)
        found = {field.removesuffix("[]") for field in fields(answer)}
        assert found <= {word.removesuffix("[]") for word in told} | {"counts"}
