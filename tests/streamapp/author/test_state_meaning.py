"""Which edits give state another meaning, told from the resource alone."""

from itertools import pairwise
from typing import Any

import pytest

from streamapp.author.state_meaning import changed_meanings, state_meanings
from streamapp.spec.parser import parse_data
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp

STREAMS = [
    {"name": "events", "system": "main", "key": "user", "columns": "user STRING, page STRING, n INT, m INT"},
    {"name": "plain", "system": "main", "columns": "user STRING, page STRING, n INT, m INT"},
    {"name": "out", "system": "main"},
]


def app(*operators: dict[str, Any], **spec: Any) -> StreamApp:
    document = {
        "apiVersion": "streamapp.dev/v1alpha1",
        "kind": "StreamApp",
        "metadata": {"name": "a"},
        "spec": {
            "systems": [{"name": "main", "embedded": {"path": "data"}}],
            "streams": STREAMS,
            "operators": list(operators),
            **spec,
        },
    }
    parsed = parse_data(document)
    assert not parsed.problems, [str(problem) for problem in parsed.problems]
    return parsed.apps[0]


def by(key: str = "page", source: str = "events") -> dict[str, Any]:
    return {"name": "by", "partitionBy": {"from": source, "key": key}}


def total(source: str = "by", **body: Any) -> dict[str, Any]:
    return {"name": "total", "aggregate": {"from": source, "aggregates": "sum(n) AS total", **body}}


def window(kind: str, **lengths: str) -> dict[str, Any]:
    return {"window": {kind: lengths}}


BEFORE = app(by(), total())


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (BEFORE, app(by(), total(aggregates="sum(m) AS total")), "aggregates was sum(n) and is sum(m)"),
        (
            BEFORE,
            app(by(), total(aggregates="sum(n), max(n)")),
            "aggregates was sum(n) and is sum(n), max(n)",
        ),
        (BEFORE, app(by(key="user"), total()), "key was page and is user"),
        (BEFORE, app(total("events")), "key was page and is user"),
        (BEFORE, app(by(), total(key="page, user")), "key was page and is page,user"),
        (
            app(by(), total(**window("tumbling", size="1m"))),
            app(by(), total(**window("tumbling", size="2m"))),
            "window was tumbling size 60000 ms and is tumbling size 120000 ms",
        ),
        (
            app(by(), {"name": "kept", "process": {"from": "by", "python": "a:B"}}),
            app(by("user"), {"name": "kept", "process": {"from": "by", "python": "a:B"}}),
            "key was page and is user",
        ),
        (
            app(by(), {"name": "moved", "map": {"from": "by", "select": "*", "key": "n"}}, total("moved")),
            app(by(), {"name": "moved", "map": {"from": "by", "select": "*", "key": "m"}}, total("moved")),
            "key was n and is m",
        ),
    ],
)
def test_an_edit_of_what_state_means_is_refused(before: StreamApp, after: StreamApp, words: str) -> None:
    (problem,) = changed_meanings(after, state_meanings(before))
    assert problem.reason is Reason.STATE_CHANGED
    assert words in problem.message
    assert "resetNonce" in problem.message


@pytest.mark.parametrize(
    "after",
    [
        app(by("PAGE"), total(aggregates="SUM( n )   total")),
        app(by("`page`".strip("`")), total(aggregates="sum(n) AS `an other, name`")),
        app({"name": "few", "filter": {"from": "events", "where": "n > 1"}}, by(source="few"), total()),
        app(by(source="plain"), total()),
        app(by(), total(allowedLateness="1m")),
        app(by(), total(aggregates="max(n)"), stateChanges="accept"),
        app(by(), {**total(), "name": "another"}),
        app(total("plain")),  # nothing says by which key records without a declared one lie there
    ],
)
def test_an_edit_that_leaves_the_meaning_of_state_is_taken(after: StreamApp) -> None:
    assert list(changed_meanings(after, state_meanings(BEFORE))) == []


@pytest.mark.parametrize(
    ("aggregates", "meaning"),
    [
        ("count(*) AS n", "count(*)"),
        ("sum(n) / 2 half, max(ts)", "sum(n)/ 2 half, max(ts)"),
        ("sum(n) / 2 AS half", "sum(n)/ 2"),
        ("count(*) FILTER (WHERE page = 'a, B (') AS n", "count(*)filter(where page = 'a, B (')"),
        ("max(cast(n AS BIGINT))", "max(cast(n as bigint))"),
        ("min_by(page, n) first", "min_by(page,n)"),
        ("max(xs)[0] most", "max(xs)[0]"),
        ("sum(n) AS total -- of all, it's said", "sum(n)"),
        ("sum(n) /* A, B */ AS total", "sum(n)"),
        (r"count_if(page = R'A\') AS n, MAX(n)", r"count_if(page = r'A\'), max(n)"),
        ("AS n", ""),  # Spark refuses it
    ],
)
def test_aggregates_are_compared_without_the_names_of_their_columns(aggregates: str, meaning: str) -> None:
    assert state_meanings(app(by(), total(aggregates=aggregates)))["total"]["aggregates"] == meaning


def test_equal_lengths_of_windows_are_equal_in_every_spelling() -> None:
    minutes, seconds = (app(by(), total(**window("session", gap=gap))) for gap in ("2m", "120s"))
    assert state_meanings(minutes) == state_meanings(seconds)


def test_a_table_means_the_key_of_what_is_written_there() -> None:
    def filled(key: str) -> StreamApp:
        return app(
            by(key),
            {"name": "kept", "sendToTable": {"from": "by", "table": "pages"}},
            tables=[{"name": "pages", "columns": "page STRING"}],
        )

    (problem,) = changed_meanings(filled("user"), state_meanings(filled("page")))
    assert problem.path == "spec.tables[0]"
    assert "key was page and is user" in problem.message


def test_a_chain_of_any_length_is_walked() -> None:
    names = ["events", *(f"step-{number}" for number in range(3_000))]
    steps = [{"name": name, "filter": {"from": source, "where": "n > 1"}} for source, name in pairwise(names)]
    assert state_meanings(app(*reversed(steps), total(names[-1])))["total"]["key"] == "user"
