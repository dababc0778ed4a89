import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]
Example = Callable[[str], Path]

ACCEPTED = ("page-views", "two-stage-aggregate", "table-cycle")


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_example_that_can_run_is_accepted_and_ends_with_0(run: Run, example: Example, name: str) -> None:
    result = run("plan", example(name) / "app.yaml", "--catalog", example(name) / "topics.yaml")
    assert result.exit_code == 0
    assert "accepted" in result.output


def test_a_mismatch_ends_with_1_and_names_the_join_both_streams_and_both_counts(
    run: Run, example: Example
) -> None:
    result = run("plan", example("mismatch") / "app.yaml", "--catalog", example("mismatch") / "topics.yaml")
    assert result.exit_code == 1
    assert "JoinPartitionMismatch" in result.output
    for word in ("joined", "users has 6", "views has"):
        assert word in result.output


def test_a_mismatch_is_mended_by_setting_the_count(run: Run, example: Example) -> None:
    folder = example("mismatch")
    result = run("plan", folder / "app.yaml", "--catalog", folder / "topics.yaml", "--set", "users=8")
    assert result.exit_code == 0


@pytest.mark.parametrize("form", ["text", "json", "dot", "svg", "html"])
@pytest.mark.parametrize("name", [*ACCEPTED, "mismatch"])
def test_every_example_has_every_form(run: Run, example: Example, name: str, form: str) -> None:
    folder = example(name)
    result = run("plan", folder / "app.yaml", "--catalog", folder / "topics.yaml", "-o", form)
    assert result.exit_code == (1 if name == "mismatch" else 0)
    assert len(result.output) > 200


@pytest.mark.parametrize("count", [250_000, 30_000_000, 99_999_999, 10**17])
def test_more_partitions_than_an_app_may_have_are_refused_with_the_bound(
    run: Run, example: Example, count: int
) -> None:
    result = run("plan", example("page-views") / "app.yaml", "--set", f"views={count}", "--set", "users=8")
    assert result.exit_code == 1
    assert "TooManyPartitions" in result.output
    text = " ".join(result.output.split())
    assert f"views has {count:,}; one app may have 250,000" in text


def test_a_program_plans_as_its_resource_does(run: Run, example: Example) -> None:
    folder = example("page-views")
    plans = [
        json.loads(run("plan", folder / source, "--catalog", folder / "topics.yaml", "-o", "json").output)
        for source in ("app.yaml", "app.py")
    ]
    assert plans[0] == plans[1]


def test_the_source_of_each_count_is_named(run: Run, example: Example) -> None:
    folder = example("page-views")
    counts = ("--catalog", folder / "topics.yaml", "--set", "views=16")
    lines = [line.split() for line in run("plan", folder / "app.yaml", *counts).output.splitlines()]
    sources = {words[0]: words[-2:] for words in lines if words[2:3] in (["input"], ["side"])}
    assert sources == {"users": ["from", "topics.yaml"], "views": ["from", "--set"]}


def test_without_counts_the_missing_streams_are_named(run: Run, example: Example) -> None:
    result = run("plan", example("page-views") / "app.yaml")
    assert result.exit_code == 1
    assert "MissingStream" in result.output
    assert "views" in result.output


def test_standard_input_is_read(run: Run, example: Example) -> None:
    text = (example("page-views") / "app.yaml").read_text()
    result = run("plan", "-", "--set", "views=8", "--set", "users=8", given=text)
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--set", "views"], 'found "views"; write it like views=8'),
        (["--set", "views=0"], 'found "views=0"; write it like views=8'),
        (["--set", "views=-3"], "write it like views=8"),
        (["--set", "view=8"], 'no stream named "view"; did you mean "views"?'),
        (["--catalog", "nowhere.yaml"], "does not exist"),
        (["-o", "png"], "is not one of"),
        (["--app", "other"], "holds the apps page-views"),
        (["--frobnicate"], "No such option"),
    ],
)
def test_wrong_use_ends_with_2_and_says_what_is_right(
    run: Run, example: Example, args: list[str], said: str
) -> None:
    result = run("plan", example("page-views") / "app.yaml", *args)
    assert result.exit_code == 2
    assert said in result.output


def test_a_source_that_is_not_there_ends_with_2(run: Run, tmp_path: Path) -> None:
    for name in ("app.yaml", "app.py"):
        result = run("plan", tmp_path / name)
        assert result.exit_code == 2
        assert "No such file" in result.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "found a list of 2; a catalog maps streams to counts"),
        ("views: eight", 'views: found the text "eight"; allowed is 1 to 1000000 or null'),
        ("views: 0", "views: found the number 0"),
        ("views: true", "views: found the flag true"),
        ("views: [", "this is no YAML"),
        ("a: 1\n---\nb: 2", "found 2 documents"),
    ],
)
def test_a_file_that_is_no_catalog_is_refused_with_its_place(
    run: Run, example: Example, tmp_path: Path, text: str, said: str
) -> None:
    catalog = tmp_path / "topics.yaml"
    catalog.write_text(text)
    result = run("plan", example("page-views") / "app.yaml", "--catalog", catalog)
    assert result.exit_code == 2
    assert said in result.output


def test_of_several_apps_one_is_chosen_by_name(run: Run, example: Example, tmp_path: Path) -> None:
    both = tmp_path / "apps.yaml"
    texts = [(example(name) / "app.yaml").read_text() for name in ("page-views", "table-cycle")]
    both.write_text("\n---\n".join(texts))
    assert "holds the apps page-views, balances" in run("plan", both).output
    chosen = run("plan", both, "--app", "balances", "--catalog", example("table-cycle") / "topics.yaml")
    assert chosen.exit_code == 0
    assert chosen.output.startswith("balances")


@pytest.mark.parametrize("form", ["text", "json", "dot", "svg", "html"])
def test_a_stream_of_feedback_is_planned_and_shown_in_every_form(run: Run, form: str) -> None:
    text = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: rounds}
spec:
  systems: [{name: main, kafka: {bootstrapServers: "kafka:9092"}}]
  streams:
    - {name: events, system: main, key: user, columns: "user STRING, n BIGINT"}
    - {name: again, system: main, key: user, columns: "user STRING, n BIGINT", feedback: true}
  operators:
    - {name: all, merge: {from: [events, again]}}
    - {name: counted, aggregate: {from: all, aggregates: "count(*) AS n"}}
    - {name: back, sendTo: {from: counted, stream: again}}
"""
    result = run("plan", "-", "--set", "events=4", "--set", "again=4", "-o", form, given=text)
    assert result.exit_code == 0
    if form in {"text", "json", "html"}:
        assert "stream again is feedback" in " ".join(result.output.split())
    mismatch = run("plan", "-", "--set", "events=4", "--set", "again=3", given=text)
    assert (mismatch.exit_code, "again has 3" in mismatch.output) == (1, True)


MEETING = """\
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: meeting}
spec:
  systems: [{name: main, kafka: {bootstrapServers: "kafka:9092"}}]
  streams:
    - {name: views, system: main, key: user, columns: "user STRING, page STRING"}
    - {name: clicks, system: main, key: user, columns: "user STRING, link STRING"}
    - {name: orders, system: main, key: user, columns: "user STRING, item STRING"}
    - {name: result, system: main, key: user}
  tables: [{name: last-click}]
  operators:
    - {name: p1, partitionBy: {from: views, key: user}}
    - {name: p2, partitionBy: {from: clicks, key: user}}
    - {name: again, join: {from: [views, p1], within: 1h, select: "left.user, left.page"}}
    - {name: keep, sendToTable: {from: p2, table: last-click}}
    - {name: with-click, joinTable: {from: p1, table: last-click}}
    - {name: with-order, join: {from: [with-click, orders], within: 1h}}
    - {name: out, sendTo: {from: with-order, stream: result}}
    - {name: seen, sendTo: {from: again, stream: result}}
"""


def test_a_hint_for_streams_that_meet_through_a_table_and_another_join_mends_the_app(
    run: Run, tmp_path: Path
) -> None:
    app = tmp_path / "app.yaml"
    app.write_text(MEETING)
    counts = ["--set", "views=8", "--set", "clicks=8", "--set", "orders=16"]
    refused = run("plan", app, *counts)
    assert refused.exit_code == 1
    assert "→ repartition the rows of with-click with partitionBy before with-order\n" in refused.stdout
    edited = MEETING.replace("from: [with-click, orders]", "from: [by-user, orders]")
    app.write_text(edited + "    - {name: by-user, partitionBy: {from: with-click, key: user}}\n")
    assert run("plan", app, *counts).exit_code == 0
