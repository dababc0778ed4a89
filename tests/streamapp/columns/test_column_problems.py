"""What is refused without Spark: columns, keys and expressions, each with its path and one sentence."""

from typing import Any

import pytest

from streamapp.author.start_problems import start_problems
from streamapp.columns.app_columns import column_problems
from streamapp.spec.parser import parse, parse_data
from streamapp.spec.resource.app import StreamApp

VIEWS = {
    "name": "views",
    "system": "main",
    "key": "user",
    "columns": "user STRING, page STRING, n INT, ts TIMESTAMP, xs ARRAY<INT>, s STRUCT<a: INT>",
}
USERS = {"name": "users", "system": "main", "key": "user", "columns": "user STRING, country STRING"}
OUT = {"name": "out", "system": "main"}


def made(*operators: dict[str, Any], streams: list[dict[str, Any]] | None = None, **spec: Any) -> StreamApp:
    parsed = parse_data(
        {
            "apiVersion": "streamapp.dev/v1alpha1",
            "kind": "StreamApp",
            "metadata": {"name": "app"},
            "spec": {
                "systems": [{"name": "main", "embedded": {"path": "data"}}],
                "streams": streams or [VIEWS, USERS, OUT],
                "operators": list(operators),
                **spec,
            },
        }
    )
    assert not parsed.problems, parsed.problems
    return parsed.apps[0]


def sink(source: str, stream: str = "out") -> dict[str, Any]:
    return {"name": f"{source}-sink", "sendTo": {"from": source, "stream": stream}}


def problem_of(*operators: dict[str, Any], **more: Any) -> str:
    (problem,) = column_problems(made(*operators, **more))
    return str(problem)


CONDITIONS = {
    "usr = 'a'": 'no column "usr"; did you mean "user"?',
    "page IS NULL AND nothing > 1": 'no column "nothing"; there are "user", "page", "n", "ts", "xs", "s"',
    "views.user = 'a'": 'no column "views.user"',
    "exists(xs, x -> x > y)": 'no column "y"',
    "n": "has to be BOOLEAN; found INT",
    "(page)": "has to be BOOLEAN; found STRING",
    "'true'": "has to be BOOLEAN; found STRING",
    "1": "has to be BOOLEAN; found INT",
    "upper(page)": "has to be BOOLEAN; found STRING",
    "n > 0 AS x": "has to be one expression, without an alias",
    "n > 0, n < 5": "has to be one expression, without an alias",
    "*": "has to be one expression, without an alias",
    "n > 0 FROM views": "is more than expressions",
    "n > 0 ORDER BY n": "is more than expressions",
    "sum(n) > 1": "an aggregate function has no place here",
    "count(*) > 1": "an aggregate function has no place here",
    "first(page) = 'a'": "an aggregate function has no place here",
    "row_number() OVER (ORDER BY n) = 1": "a window function has no place here",
    "n IN (SELECT 1)": "a subquery cannot be asked for each row",
    "EXISTS (SELECT 1)": "a subquery cannot be asked for each row",
    "rand() > 0.5": "gives another answer each time",
    "uuid() = user": "gives another answer each time",
    "explode(xs) > 1": "use a flatMap operator",
    "uper(user) = 'A'": 'no function "uper" at character 1; did you mean "upper"?',
    "map(n) IS NULL": '"map" takes 0, 2, 4, 6 or 8 arguments; found 1 at character 1',
    "n > 0 AND lenght(page) = 1": 'no function "lenght" at character 11; did you mean "length"?',
}


@pytest.mark.parametrize(("where", "sentence"), CONDITIONS.items())
def test_a_condition_is_refused_with_one_sentence(where: str, sentence: str) -> None:
    problem = problem_of({"name": "m", "filter": {"from": "views", "where": where}}, sink("m"))
    assert problem.startswith("spec.operators[0].filter.where: ")
    assert sentence in problem
    assert "\n" not in problem and len(problem) < 300


@pytest.mark.parametrize(
    "where",
    [
        "s.a > 1",
        "USER = 'a'",
        "`user` = 'a'",
        "size(transform(xs, (x, i) -> x + i)) > n",
        "ts > current_timestamp - INTERVAL 1 DAY",
        "current_date = CAST(ts AS DATE)",
        "page LIKE ANY ('a%', 'b%')",
        "timestampadd(HOUR, 1, ts) > now()",
        "try_cast(page AS INT) IS NOT NULL",
        "n > -- nothing more is known of this\n",
        "n > 0 -- Spark's comment goes on \\\n OR nothing > 1",
        "struct(" * 12 + "n AS b)" + " AS b)" * 11 + " IS NULL",
        "(" * 60 + "n > 0" + ")" * 60,
        " AND ".join(["nothing > 0"] * 900),
    ],
)
def test_what_is_right_or_not_sure_is_not_refused(where: str) -> None:
    """The last ones take sqlglot too long, so that Spark alone judges them."""
    app = made({"name": "m", "filter": {"from": "views", "where": where}}, sink("m"))
    assert column_problems(app) == ()


METADATA = {
    "PAGE": 'spec.streams[0].metadata.offset: the name "PAGE" is taken by the stream\'s columns',
    "sent": 'spec.streams[0].metadata.offset: the name "sent" is taken by metadata.timestamp',
}


@pytest.mark.parametrize(("name", "sentence"), METADATA.items())
def test_a_column_of_the_record_has_a_name_of_its_own(name: str, sentence: str) -> None:
    views = VIEWS | {"metadata": {"timestamp": "sent", "offset": name}}
    assert problem_of(sink("views"), streams=[views, OUT]).startswith(sentence)


def test_conditions_name_columns_of_the_record_with_their_types() -> None:
    views = VIEWS | {"metadata": {"timestamp": "sent", "offset": "at", "headers": "h"}}
    wrong = {"name": "m", "filter": {"from": "views", "where": "at"}}
    assert "has to be BOOLEAN; found BIGINT" in problem_of(wrong, sink("m"), streams=[views, OUT])
    right = {"name": "m", "filter": {"from": "views", "where": "at > 7 AND size(h) > 0 AND sent IS NOT NULL"}}
    assert column_problems(made(right, sink("m"), streams=[views, OUT])) == ()


def test_columns_of_which_only_the_record_is_made_need_not_be_those_of_the_stream() -> None:
    views = VIEWS | {"metadata": {"timestamp": "sent", "headers": "h"}}
    out = OUT | {"columns": "user STRING"}
    chosen = {"name": "m", "map": {"from": "views", "select": "user, sent, h"}}
    sent = {"from": "m", "stream": "out", "headers": "h", "timestamp": "sent"}
    streams = [views, out]
    assert column_problems(made(chosen, {"name": "s", "sendTo": sent}, streams=streams)) == ()
    wrong = {"name": "s", "sendTo": sent | {"timestamp": "snt"}}
    problem = 'spec.operators[1].sendTo.timestamp: no column "snt"; did you mean "sent"?'
    assert problem_of(chosen, wrong, streams=streams) == problem
    del sent["headers"]
    problem = 'the rows sent have a column "h", and stream "out" does not'
    assert problem in problem_of(chosen, {"name": "s", "sendTo": sent}, streams=streams)


SELECTS = {
    "user, usr": 'no column "usr"; did you mean "user"?',
    "user, page AS USER": 'two columns are called "USER"; give one another name with AS',
    "*, n AS page": 'two columns are called "page"',
    "views.*": 'no column "views.*"',
    "user, explode(xs) AS x": "use a flatMap operator",
    "user, max(n) AS n": "an aggregate function has no place here",
    "DISTINCT user": "is more than expressions",
    "user FROM views": "is more than expressions",
}


@pytest.mark.parametrize(("select", "sentence"), SELECTS.items())
def test_a_select_list_is_refused_with_one_sentence(select: str, sentence: str) -> None:
    problem = problem_of({"name": "m", "map": {"from": "views", "select": select}}, sink("m"))
    assert problem.startswith("spec.operators[0].map.select: ")
    assert sentence in problem


@pytest.mark.parametrize("select", ["user", "explode(xs) AS a, explode(xs) AS b", "1 + size(xs) AS c"])
def test_a_flat_map_has_one_generator(select: str) -> None:
    problem = problem_of({"name": "m", "flatMap": {"from": "views", "select": select}}, sink("m"))
    assert problem.startswith("spec.operators[0].flatMap.select: has ")


def test_columns_are_followed_through_operators() -> None:
    problem = problem_of(
        {"name": "a", "map": {"from": "views", "select": "user, n + 1 AS more"}},
        {"name": "b", "partitionBy": {"from": "a", "key": "user"}},
        {"name": "c", "aggregate": {"from": "b", "aggregates": "sum(more) AS total"}},
        {"name": "d", "filter": {"from": "c", "where": "more > 1"}},
        sink("d"),
    )
    assert problem == ('spec.operators[3].filter.where: no column "more"; there are "user", "total"')


def test_nothing_is_said_of_rows_whose_columns_only_spark_names() -> None:
    app = made(
        {"name": "a", "map": {"from": "views", "select": "user, n + 1"}},
        {"name": "b", "filter": {"from": "a", "where": "`(n + 1)` > 1"}},
        sink("b"),
    )
    assert column_problems(app) == ()


AGGREGATES: list[tuple[dict[str, Any], str]] = [
    ({"aggregates": "count(DISTINCT page) AS n"}, "would have to keep every value"),
    ({"aggregates": "collect_list(page) AS p"}, "allowed are count, sum, min, max, avg"),
    ({"aggregates": "*"}, "has a *"),
    ({"aggregates": "sum(nn) AS n"}, 'no column "nn"'),
    ({"aggregates": "count(*) AS user"}, 'two columns are called "user"'),
    ({"aggregates": "count(*) AS n", "key": "page"}, "put a partitionBy before it"),
    ({"aggregates": "count(*) AS n", "key": "user, usr"}, 'no column "usr"'),
]


@pytest.mark.parametrize(("body", "sentence"), AGGREGATES)
def test_an_aggregate_is_refused_with_one_sentence(body: dict[str, Any], sentence: str) -> None:
    problem = problem_of({"name": "m", "aggregate": {"from": "views", **body}}, sink("m"))
    assert problem.startswith("spec.operators[0].aggregate.")
    assert sentence in problem


def test_merges_joins_and_sinks_have_columns_that_fit() -> None:
    keyed_out = {"name": "keyed", "system": "main", "key": "id"}
    declared_out = {"name": "declared", "system": "main", "columns": "user STRING, total INT"}
    for operators, sentence in (
        (
            [{"name": "m", "merge": {"from": ["views", "users"]}}, sink("m")],
            "operators[0].merge.from: the sources have different columns",
        ),
        (
            [
                {"name": "k", "map": {"from": "views", "select": "user, page, n", "key": "page"}},
                {"name": "m", "join": {"from": ["k", "users"], "within": "1m"}},
                sink("m"),
            ],
            "operators[1].join.from: the join's left side needs equal keys in one task",
        ),
        (
            [
                {"name": "m", "join": {"from": ["views", "users"], "within": "1m", "select": "user"}},
                sink("m"),
            ],
            'operators[0].join.select: "user" is on both sides; write left.user or right.user',
        ),
        ([sink("views", "keyed")], 'operators[0].sendTo.stream: stream "keyed" has key "id"'),
        ([sink("views", "declared")], 'stream "declared" has a column "total", and the rows sent do not'),
    ):
        problem = problem_of(*operators, streams=[VIEWS, USERS, OUT, keyed_out, declared_out])
        assert sentence in problem


def test_tables_have_columns_and_keys_that_fit() -> None:
    tables = [{"name": "known", "sideInputs": [{"stream": "users"}]}]
    joined = {"name": "j", "joinTable": {"from": "views", "table": "known", "key": "page"}}
    assert "each task has the keys that rows were partitioned by" in problem_of(
        joined, sink("j"), tables=tables
    )
    joined = {"name": "j", "joinTable": {"from": "views", "table": "known", "select": "user, known.city"}}
    assert 'no column "known.city"' in problem_of(joined, sink("j"), tables=tables)
    joined = {"name": "j", "joinTable": {"from": "views", "table": "known"}}
    declared = [{"name": "known", "columns": "user STRING", "sideInputs": [{"stream": "users"}]}]
    assert 'tables[0].sideInputs[0].stream: the rows sent have a column "country"' in problem_of(
        joined, sink("j"), tables=declared
    )
    keyed = [{"name": "known", "sideInputs": [{"stream": "users", "key": "upper(nobody)"}]}]
    assert 'tables[0].sideInputs[0].key: no column "nobody"' in problem_of(joined, sink("j"), tables=keyed)
    chosen = [{"name": "known", "sideInputs": [{"stream": "users", "value": "user, nobody"}]}]
    assert 'tables[0].sideInputs[0].value: no column "nobody"' in problem_of(joined, sink("j"), tables=chosen)


def test_functions_of_extensions_are_not_judged() -> None:
    app = made(
        {"name": "m", "filter": {"from": "views", "where": "uper(user) = 'A'"}},
        sink("m"),
        driver={"sparkConf": {"spark.sql.extensions": "shop.Functions"}},
    )
    assert column_problems(app) == ()


def test_every_app_of_a_text_is_judged_and_each_problem_has_its_line() -> None:
    parsed = parse("""
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: app}
spec:
  systems: [{name: main, embedded: {path: data}}]
  placement: {standbys: 1}
  streams:
    - {name: views, system: main, columns: "user STRING"}
    - name: letters
      format: avro
      avroSchema: "{"
      system: main
  operators:
    - name: m
      filter:
        from: views
        where: usr = 'a'
    - {name: o, sendTo: {from: views, stream: letters}}
""")
    problems = parsed.located(parsed.apps[0], start_problems(parsed.apps[0]))
    assert [str(problem).partition(";")[0] for problem in sorted(problems)] == [
        "line 7: spec.placement.standbys: not yet supported: each task has one copy of its state",
        "line 12: spec.streams[1].avroSchema: is no JSON: Expecting property name enclosed in double "
        "quotes at character 2",
        'line 18: spec.operators[0].filter.where: no column "usr"',
    ]


def test_all_unknown_names_of_an_expression_are_told_at_once() -> None:
    select = "usr, upper(pge) AS p, zebra AS z, uper(page) AS q"
    mapped = {"name": "m", "map": {"from": "views", "select": select}}
    assert problem_of(mapped, sink("m")) == (
        'spec.operators[0].map.select: no column "usr"; did you mean "user"? '
        'Also no column "pge"; did you mean "page"? '
        'Also no column "zebra"; there are "user", "page", "n", "ts", "xs", "s". '
        'Also no function "uper" at character 35; did you mean "upper"?'
    )


def test_of_many_unknown_names_some_are_told_and_the_others_counted() -> None:
    select = ", ".join(f"zebra{number} AS z{number}" for number in range(40))
    mapped = {"name": "m", "map": {"from": "views", "select": select}}
    assert problem_of(mapped, sink("m")).endswith(" Also 35 more")
