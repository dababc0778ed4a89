from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from streamapp.graph.components import strong_components
from tests.harness.core.sample_resource import Data, everything, told


def _merges(**sources: list[str]) -> Data:
    """An app of merges only, each with what it reads; `clicks` and `views` are streams."""
    return _app([{"name": name, "merge": {"from": read}} for name, read in sources.items()])


def _app(operators: list[dict[str, Any]]) -> Data:
    data = everything()
    data["spec"]["operators"] = operators
    return data


def test_operators_that_read_each_other_are_told_as_a_circle() -> None:
    assert told(_merges(a=["clicks", "c"], b=["a", "views"], c=["b", "views"])) == [
        "spec.operators[0]: operators read each other in a circle: a <- c <- b <- a; "
        "only a table may close one"
    ]


def test_an_operator_that_reads_itself_is_a_circle() -> None:
    assert told(_merges(a=["clicks", "a"])) == [
        "spec.operators[0]: operators read each other in a circle: a <- a; only a table may close one"
    ]


def test_two_circles_that_touch_are_both_told() -> None:
    messages = told(_merges(a=["b", "clicks"], b=["a", "c"], c=["b", "clicks"]))
    assert [message.split(": ")[2].partition(";")[0] for message in messages] == [
        "a <- b <- a",
        "b <- c <- b",
    ]


def test_a_repartition_within_a_circle_does_not_open_it() -> None:
    operators = [
        {"name": "a", "merge": {"from": ["clicks", "b"]}},
        {"name": "b", "partitionBy": {"from": "a", "key": "user"}},
    ]
    (message,) = told(_app(operators))
    assert "in a circle: a <- b <- a" in message


def test_a_long_circle_is_told_by_its_first_operators_and_a_count() -> None:
    ring = {f"o{i}": [f"o{(i + 1) % 500}", "clicks"] for i in range(500)}
    (message,) = told(_merges(**ring))
    assert "o0 <- o1 <- o2 <- o3 <- o4 <- o5 <- o6 <- o7 <- (492 more) <- o0" in message


def test_a_circle_through_a_table_is_allowed() -> None:
    operators = [
        {"name": "look", "joinTable": {"from": "clicks", "table": "seen"}},
        {"name": "keep", "sendToTable": {"from": "look", "table": "seen"}},
    ]
    assert told(_app(operators)) == []


def test_a_circle_of_ten_thousand_operators_with_as_many_short_cuts_is_told() -> None:
    ring = {f"o{i}": [f"o{min(i + 1, 9_999)}", "o0"] for i in range(10_000)}
    assert len(told(_merges(**ring))) == 10_001


def test_a_sink_that_reads_only_from_a_circle_is_told_that_no_stream_reaches_it() -> None:
    operators = [
        {"name": "a", "filter": {"from": "b", "where": "true"}},
        {"name": "b", "filter": {"from": "a", "where": "true"}},
        {"name": "out", "sendTo": {"from": "b", "stream": "enriched"}},
        {"name": "keep", "sendToTable": {"from": "a", "table": "seen"}},
    ]
    said = "all that it reads comes from a circle; read a stream too"
    assert told(_app(operators))[1:] == [
        f'spec.operators[2].sendTo.from: no stream reaches "out": {said}',
        f'spec.operators[3].sendToTable.from: no stream reaches "keep": {said}',
    ]


def test_a_sink_behind_a_circle_that_also_reads_a_stream_is_reached() -> None:
    operators = [
        {"name": "a", "merge": {"from": ["a", "clicks"]}},
        {"name": "out", "sendTo": {"from": "a", "stream": "enriched"}},
    ]
    assert not any("no stream reaches" in message for message in told(_app(operators)))


def test_a_sink_behind_a_name_that_nobody_has_is_told_by_that_name_alone() -> None:
    operators = [
        {"name": "a", "filter": {"from": "clik", "where": "true"}},
        {"name": "out", "sendTo": {"from": "a", "stream": "enriched"}},
    ]
    assert told(_app(operators)) == [
        'spec.operators[0].filter.from: no stream or operator named "clik"; did you mean "clicks"?'
    ]


graphs = st.integers(1, 8).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, n), min_size=2, max_size=3), min_size=n, max_size=n)
)


@given(graphs)
def test_a_circle_is_told_in_each_strongly_connected_part_and_nowhere_else(reads: list[list[int]]) -> None:
    count = len(reads)
    names = [f"o{i}" for i in range(count)]
    messages = told(_merges(**{names[i]: [[*names, "clicks"][s] for s in r] for i, r in enumerate(reads)}))
    before = [[source for source in sources if source < count] for sources in reads]
    rings = [set(p) for p in strong_components(before) if len(p) > 1 or p[0] in before[p[0]]]
    circles = [message.split(": ")[2].partition(";")[0].split(" <- ") for message in messages]
    met = [{names.index(name) for name in circle} for circle in circles]
    assert all(any(circle <= ring for ring in rings) for circle in met)
    assert all(any(circle <= ring for circle in met) for ring in rings)
    for circle in circles:
        pairs = pairwise(circle)
        assert all(names.index(b) in before[names.index(a)] for a, b in pairs)
