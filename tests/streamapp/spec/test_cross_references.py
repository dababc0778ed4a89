import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.harness.core.sample_resource import changed, everything, told

DANGLING = [
    ("spec.operators[2].joinTable.table", "user", 'no table named "user"; did you mean "users"?'),
    ("spec.operators[0].filter.from", "vews", 'no stream or operator named "vews"; did you mean "views"?'),
    (
        "spec.operators[7].join.from[1]",
        "click",
        'no stream or operator named "click"; did you mean "clicks"?',
    ),
    ("spec.operators[12].sendTo.stream", "enrichd", 'no stream named "enrichd"; did you mean "enriched"?'),
    ("spec.streams[2].system", "lokal", 'no system named "lokal"; did you mean "local"?'),
    ("spec.tables[0].sideInputs[0].stream", "user", 'no stream named "user"; did you mean "users"?'),
    ("spec.operators[10].process.tables[0]", "sen", 'no table named "sen"; did you mean "seen"?'),
    ("spec.broadcastInputs[0]", "clicky#3", 'no stream named "clicky"; did you mean "clicks"?'),
    ("spec.streams[1].system", "zzz", 'no system named "zzz"; there are "main", "local"'),
]


@pytest.mark.parametrize(("path", "name", "message"), DANGLING)
def test_a_name_that_nothing_has_is_told_with_the_nearest_one(path: str, name: str, message: str) -> None:
    assert told(changed(path, name)) == [f"{path}: {message}"]


SOURCES = [
    (f"spec.operators[{number}].{kind}.from" + (f"[{place}]" if several else ""), source)
    for number, operator in enumerate(everything()["spec"]["operators"])
    for kind, body in operator.items()
    if kind != "name"
    for several in [isinstance(body["from"], list)]
    for place, source in enumerate(body["from"] if several else [body["from"]])
]


@given(st.sampled_from(SOURCES), st.integers(0, 30), st.sampled_from(["", "x", "1", "e"]))
def test_a_name_that_is_suggested_for_a_source_is_one_that_can_stand_there(
    source: tuple[str, str], place: int, letter: str
) -> None:
    path, name = source
    misspelt = name[: place % len(name)] + letter + name[place % len(name) + 1 :]
    messages = told(changed(path, misspelt)) if misspelt else []
    for message in messages:
        if message.startswith(f"{path}: no stream or operator") and "did you mean" in message:
            suggested = message.split('did you mean "')[1].removesuffix('"?')
            assert told(changed(path, suggested)) == []


def test_neither_a_sink_nor_what_comes_after_an_operator_is_suggested_as_its_source() -> None:
    data = everything()
    operators = [{"name": "outs", "sendTo": {"from": "cleaned", "stream": "enriched"}}]
    operators += [{"name": "cleaned", "filter": {"from": "cleane", "where": "true"}}]
    data["spec"] |= {"operators": operators, "tables": []}
    data["spec"]["streams"] = [{"name": name, "system": "main"} for name in ("views", "enriched")]
    data["spec"]["broadcastInputs"] = []
    messages = [message for message in told(data) if ".from" in message]
    assert messages == [
        'spec.operators[1].filter.from: no stream or operator named "cleane"; there is "views"'
    ]


def test_a_table_where_there_are_none_is_told_so() -> None:
    data = everything()
    data["spec"]["tables"] = []
    data["spec"]["operators"] = [data["spec"]["operators"][i] for i in (0, 1, 2)]
    assert told(data) == ['spec.operators[2].joinTable.table: no table named "users"; there are none']


def test_many_names_are_told_as_a_few_and_a_count() -> None:
    data = everything()
    data["spec"]["systems"] += [{"name": f"other-{i}", "embedded": {"path": "x"}} for i in range(20)]
    data["spec"]["streams"][2]["system"] = "zzzzzzzz"
    (message,) = told(data)
    assert message.endswith('"other-9" and 10 more')


def test_a_stream_that_is_only_sent_to_is_no_table() -> None:
    path = "spec.operators[11].sendToTable.table"
    (message,) = told(changed(path, "enriched"))
    assert message.startswith(f'{path}: no table named "enriched"')


def test_nothing_reads_from_a_sink() -> None:
    operator = {"name": "more", "broadcast": {"from": "out"}}
    assert told(changed("spec.operators[13]", operator)) == [
        'spec.operators[13].broadcast.from: "out" is a sendTo and hands nothing on; read what it reads'
    ]


def test_a_broken_list_is_told_without_blaming_those_who_name_its_entries() -> None:
    assert told(changed("spec.streams[0].name", 7)) == [
        "spec.streams[0].name: found the number 7 where a text is expected; put it in quotes"
    ]
    assert told(changed("spec.streams", "views")) == [
        'spec.streams: found the text "views" where a list is expected'
    ]


TABLES = [
    (
        {"name": "users", "sideInputs": [{"stream": "users"}], "remote": {"python": "a:b"}},
        "spec.tables[0].sideInputs: a remote table has no side inputs; take out one of the two",
    ),
    (
        {"name": "users"},
        'spec.tables[0]: nothing fills table "users": give it sideInputs, a remote, or a sendToTable',
    ),
    (
        {"name": "users", "changelog": True, "sideInputs": [{"stream": "users"}]},
        'spec.tables[0].changelog: table "users" is filled by side inputs and has no changelog: '
        "it is filled from them again",
    ),
    (
        {"name": "users", "sideInputs": [{"stream": "users"}, {"stream": "users", "bootstrap": True}]},
        'spec.tables[0].sideInputs[1].stream: table "users" is filled by "users" already',
    ),
    (
        {"name": "users", "broadcast": True},
        "spec.tables[0].broadcast: a broadcast table is filled by side inputs; it has none",
    ),
    (
        {"name": "users", "sideInputs": [{"stream": "users", "python": "a:b", "key": "user"}]},
        "spec.tables[0].sideInputs[0].key: goes without python only: a function gives keys and rows itself; "
        "leave one out",
    ),
]


@pytest.mark.parametrize(("table", "message"), TABLES)
def test_a_table_is_filled_in_one_way(table: dict[str, object], message: str) -> None:
    assert told(changed("spec.tables[0]", table)) == [message]


def test_a_table_of_side_inputs_and_a_remote_one_are_written_by_nobody_else() -> None:
    path = "spec.operators[11].sendToTable.table"
    (message,) = (m for m in told(changed(path, "prices")) if "remote" in m)
    assert message == f'{path}: table "prices" is remote and is only read'
    (message,) = told(changed(path, "users"))
    assert message == f'{path}: table "users" is filled by side inputs and nothing else may write to it'


def test_the_key_and_the_event_time_of_a_stream_are_columns_of_it() -> None:
    assert told(changed("spec.streams[0].key", "usr")) == [
        'spec.streams[0].key: no column "usr" in the stream\'s columns; did you mean "user"?'
    ]
    path = "spec.streams[0].eventTime.column"
    assert told(changed(path, "user")) == [
        f'{path}: column "user" is STRING; event time has to be a TIMESTAMP, or a BIGINT with a unit'
    ]
    assert told(changed(path, "TS")) == []  # Spark ignores case


def test_the_key_and_the_event_time_may_be_those_of_the_record_and_no_other_field_of_it() -> None:
    named = changed("spec.streams[0].metadata", {"key": "id", "timestamp": "sent", "offset": "o"})
    path = "spec.streams[0].eventTime.column"
    assert told(changed("spec.streams[0].key", "ID", changed(path, "Sent", named))) == []
    assert told(changed("spec.streams[0].key", "o", changed(path, "id", named))) == [
        f'{path}: "id" is the record\'s key; name a column of the values, or that of metadata.timestamp',
        'spec.streams[0].key: "o" is the record\'s offset; '
        "name a column of the values, or that of metadata.key",
    ]
    assert told(changed("spec.streams[0].eventTime", {"column": "sent", "unit": "seconds"}, named)) == [
        'spec.streams[0].eventTime.unit: column "sent" is TIMESTAMP, '
        "which is a time by itself; leave unit out"
    ]


@pytest.mark.parametrize(
    ("columns", "unit", "message"),
    [
        ("user STRING, ts BIGINT", "milliseconds", None),
        ("user STRING, ts INT", "seconds", None),
        ("user STRING, ts BIGINT", None, 'column: column "ts" is BIGINT; say unit: milliseconds or unit:'),
        ("user STRING, ts TIMESTAMP", "seconds", 'unit: column "ts" is TIMESTAMP, which is a time by itself'),
    ],
)
def test_whole_numbers_are_event_times_where_their_unit_is_said(
    columns: str, unit: str | None, message: str | None
) -> None:
    data = changed("spec.streams[0].columns", columns)
    data = changed("spec.streams[0].eventTime", {"column": "ts"} | ({"unit": unit} if unit else {}), data)
    faults = [fault for fault in told(data) if "eventTime" in fault]
    assert [fault.startswith(f"spec.streams[0].eventTime.{message}") for fault in faults] == (
        [True] if message else []
    )


def test_hopping_windows_that_leave_gaps_are_refused_with_the_field() -> None:
    path = "spec.operators[8].aggregate.window.hopping.advance"
    assert told(changed(path, "60m")) == []
    (message,) = told(changed(path, "61m"))
    assert message.startswith(f"{path}: found 61m, longer than the size 1h: rows between two windows")


def test_a_volume_as_location_needs_a_claim_and_there_is_one_kind_of_volume() -> None:
    data = changed("spec.placement.location", "label:rack+volume")
    assert told(data) == []
    assert told(changed("spec.state", {"hostPath": {"path": "/data"}}, data)) == [
        'spec.placement.location: "volume" needs state.persistentVolumeClaim: '
        "other volumes do not outlive their pod or node"
    ]
    both = {"hostPath": {"path": "/data"}, "emptyDir": {}}
    assert told(changed("spec.state", both)) == [
        "spec.state: takes one kind of volume, found hostPath and emptyDir"
    ]


def test_every_mistake_is_told_in_one_go() -> None:
    data = changed("spec.operators[2].joinTable.table", "user")
    data = changed("spec.operators[0].filter.from", "vews", data)
    data = changed("spec.processors", 0, data)
    data = changed("spec.streams[0].columns", "user STRNG", data)
    data = changed("metadata.name", "Page", data)
    assert [message.partition(": ")[0] for message in told(data)] == [
        "metadata.name",
        "spec.operators[0].filter.from",
        "spec.operators[2].joinTable.table",
        "spec.processors",
        "spec.streams[0].columns",
    ]
