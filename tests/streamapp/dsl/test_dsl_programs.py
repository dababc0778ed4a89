import runpy
from pathlib import Path
from typing import Any

import pytest

from streamapp.dsl import App
from streamapp.spec.parser import parse
from streamapp.spec.serialization import as_json, as_yaml

EXAMPLE = Path(__file__).parents[3] / "examples" / "page-views"


def test_the_page_views_program_is_its_resource() -> None:
    program: App = runpy.run_path(str(EXAMPLE / "app.py"))["app"]
    resource = parse((EXAMPLE / "app.yaml").read_text(encoding="utf-8"))
    assert resource.problems == ()
    assert program.parsed() == resource
    (one,), (other,) = program.parsed().apps, resource.apps
    assert as_yaml(one) == as_yaml(other)
    assert parse(as_json(one)).apps == (other,)


def _program() -> App:
    app = App("small")
    main = app.embedded("main", path="./data")
    words = main.stream("words", columns="word STRING")
    words.filter("long", where="length(word) > 8").send_to("out", main.stream("kept"))
    return app


def test_a_program_that_is_right_has_no_problems() -> None:
    assert _program().parsed().problems == ()


WRONG = [
    ("length(word", "the ( at character 7 is not closed"),
    (None, None),
    (7, "found the number 7 where a text is expected; put it in quotes"),
    (App("other"), "found a value of the type App; allowed are texts, numbers, flags, lists and mappings"),
]


@pytest.mark.parametrize(("where", "message"), WRONG)
def test_what_is_wrong_in_a_program_is_told_with_the_path_of_the_resource(
    where: Any, message: str | None
) -> None:
    app = _program()
    app.embedded("other", path="x").stream("more").filter("longer", where=where)
    missing = "missing; it has to say: the condition, a Spark SQL expression"
    (problem,) = app.parsed().problems
    assert str(problem) == f"spec.operators[2].filter.where: {message or missing}"


def test_an_operator_named_twice_and_a_foreign_stream_are_told() -> None:
    app = _program()
    foreign = App("foreign").embedded("x", path="x").stream("foreign")
    more = app.embedded("other", path="x").stream("more")
    more.filter("long", where="true")
    more.merge("both", foreign)
    assert [str(problem) for problem in app.parsed().problems] == [
        'spec.operators[2].name: the name "long" is taken by spec.operators[0]; '
        "streams and operators share one set of names",
        'spec.operators[3].merge.from[1]: no stream or operator named "foreign"; there are "words", "kept", '
        '"more", "long"',
    ]


def test_an_empty_program_is_told_what_it_lacks() -> None:
    assert [problem.path for problem in App("empty").parsed().problems] == [
        "spec.operators",
        "spec.streams",
        "spec.systems",
    ]
