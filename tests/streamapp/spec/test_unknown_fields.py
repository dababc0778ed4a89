import pytest

from tests.harness.core.sample_resource import changed, everything, told, without

MISSPELT = [
    ("spec.procesors", 3, 'unknown field "procesors"; did you mean "processors"?'),
    ("spec.streams[0].colums", "a INT", 'unknown field "colums"; did you mean "columns"?'),
    ("spec.operators[0].filter.wher", "true", 'unknown field "wher"; did you mean "where"?'),
    ("spec.placement.hostAfinity", True, 'unknown field "hostAfinity"; did you mean "hostAffinity"?'),
    ("spec.tables[2].remote.cache.siez", 1, 'unknown field "siez"; did you mean "size"?'),
    ("spec.streams[0].event_time", {}, 'unknown field "event_time"; did you mean "eventTime"?'),
    ("spec.operators[0].filter.source", "views", 'unknown field "source"; there are "from", "where"'),
    ("spec.placement.zzz", 1, 'unknown field "zzz"; there are "hostAffinity", "location", "standbys"'),
    ("metdata", {}, 'unknown field "metdata"; did you mean "metadata"?'),
]


@pytest.mark.parametrize(("path", "value", "message"), MISSPELT)
def test_an_unknown_field_is_refused_with_its_path_and_what_was_probably_meant(
    path: str, value: object, message: str
) -> None:
    assert told(changed(path, value)) == [f"{path}: {message}"]


def test_a_misspelt_kind_of_operator_is_told_once_and_what_reads_it_is_not_blamed() -> None:
    operator = {"name": "real", "fliter": {"from": "views", "where": "true"}}
    message = 'spec.operators[0].fliter: unknown field "fliter"; did you mean "filter"?'
    assert told(changed("spec.operators[0]", operator)) == [message]


def test_a_missing_field_is_told_with_what_it_says() -> None:
    assert told(without("spec.operators[0].filter.where")) == [
        "spec.operators[0].filter.where: missing; it has to say: the condition, a Spark SQL expression"
    ]
    assert told(without("spec.operators[0].filter.from")) == [
        "spec.operators[0].filter.from: missing; it has to say: the stream or operator it reads"
    ]


def test_missing_lists_are_told_without_blaming_every_name_that_would_stand_in_them() -> None:
    assert told(without("spec.streams")) == [
        "spec.streams: missing; it has to say: inputs, outputs and side inputs"
    ]


def test_all_unknown_fields_are_told_at_once() -> None:
    data = everything()
    for index in range(5):
        data["spec"]["streams"][0][f"odd{index}"] = index
    assert len(told(data)) == 5


def test_an_operator_takes_exactly_one_kind() -> None:
    kinds = (
        "filter, map, flatMap, merge, partitionBy, broadcast, join, joinTable, sendToTable, aggregate, "
        "process, sendTo"
    )
    rule = f"takes exactly one of {kinds}"
    two = {"name": "all", "broadcast": {"from": "clicks"}, "filter": {"from": "clicks", "where": "true"}}
    assert told(changed("spec.operators[9]", two)) == [
        f"spec.operators[9]: {rule}; found broadcast and filter"
    ]
    assert told(changed("spec.operators[9]", {"name": "all"})) == [f"spec.operators[9]: {rule}; found none"]
    empty = {"name": "all", "broadcast": None}
    assert told(changed("spec.operators[9]", empty)) == [
        f"spec.operators[9]: {rule}; found an empty broadcast"
    ]


def test_a_system_and_a_window_take_exactly_one_kind() -> None:
    both = {"name": "main", "kafka": {"bootstrapServers": "k:1"}, "embedded": {"path": "x"}}
    kinds = "kafka, embedded, postgres, delta, iceberg, files, python"
    message = f"spec.systems[0]: takes exactly one of {kinds}; found kafka and embedded"
    assert told(changed("spec.systems[0]", both)) == [message]
    window = "spec.operators[8].aggregate.window"
    rule = f"{window}: takes exactly one of tumbling, hopping, session"
    assert told(changed(window, {})) == [f"{rule}; found none"]
    two = {"tumbling": {"size": "1h"}, "session": {"gap": "5m"}}
    assert told(changed(window, two)) == [f"{rule}; found tumbling and session"]


def test_a_map_takes_either_a_select_list_or_python_and_python_says_its_columns() -> None:
    path = "spec.operators[4].map"
    neither, both = {"from": "priced"}, {"from": "priced", "select": "a", "python": "a:b"}
    assert told(changed(path, neither)) == [f"{path}: takes either select or python; found neither"]
    assert told(changed(path, both)) == [f"{path}: takes either select or python; found both"]
    assert told(changed(path, {"from": "priced", "python": "a:b"})) == [
        f"{path}.columns: missing; say which columns the Python function returns"
    ]
    assert told(changed(path, {"from": "priced", "select": "a", "columns": "a INT"})) == [
        f"{path}.columns: goes with python only: a select list already names its columns; leave it out"
    ]


def test_the_status_that_a_cluster_adds_is_no_unknown_field() -> None:
    assert told({**everything(), "status": {"phase": "Running", "whatever": 1}}) == []


def test_another_kind_of_resource_is_told_as_such_and_not_by_its_fields() -> None:
    assert told({"apiVersion": "v1", "kind": "ConfigMap", "data": {}}) == [
        'apiVersion: found the text "v1"; allowed is "streamapp.dev/v1alpha1"',
        'kind: found the text "ConfigMap"; allowed is "StreamApp"',
    ]
    assert told({}) == [
        'apiVersion: missing; it has to be "streamapp.dev/v1alpha1"',
        'kind: missing; it has to be "StreamApp"',
    ]
