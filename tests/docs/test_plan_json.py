import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamapp.graph.graph_builder import build_graph
from streamapp.plan.planner import plan
from streamapp.plan.render.forms import FORMS
from streamapp.spec.parser import parse

ROOT = Path(__file__).parents[2]
BY_NAME = {"streams", "tables"}


def fields(value: Any, path: str = "") -> Iterator[str]:
    if isinstance(value, list):
        for entry in value:
            yield from fields(entry, f"{path}[]")
    elif isinstance(value, dict):
        by_name = path in BY_NAME or path.endswith("[].streams")
        for name, inner in value.items():
            here = f"{path}.{'*' if by_name else name}".lstrip(".")
            yield here
            yield from fields(inner, here)


@pytest.mark.parametrize("users", [6, None], ids=["accepted", "rejected"])
def test_every_field_of_the_document_stands_on_the_page(users: int | None) -> None:
    (app,) = parse((ROOT / "examples/page-views/app.yaml").read_text("utf-8")).apps
    graph = build_graph(app, {"views": 8, "users": users})
    document = json.loads(FORMS["json"](app.metadata.name, graph, plan(graph), False))
    page = (ROOT / "docs/reference/plan-json.md").read_text("utf-8")
    told = set(re.findall(r"^\| `([^`]+)` \|", page, re.M))
    assert {re.sub(r"(\.\*|\[\])$", "", path) for path in fields(document)} - {
        path.removesuffix("[]") for path in told
    } == set()
