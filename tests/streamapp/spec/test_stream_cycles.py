"""Streams that an app reads and writes: what comes back is refused unless it is said to be feedback."""

from typing import Any

import pytest

from tests.harness.core.sample_resource import Data, everything, told

ENDLESS = "one record goes round for ever"


def _app(*operators: dict[str, Any], streams: dict[str, dict[str, Any]] | None = None) -> Data:
    """An app of streams `a`, `b` and `c` in the system `main`."""
    fields = {"a": {}, "b": {}, "c": {}} | (streams or {})
    data = everything()
    data["spec"] = {
        "systems": [{"name": "main", "embedded": {"path": "data"}}],
        "streams": [{"name": name, "system": "main", **more} for name, more in fields.items()],
        "operators": list(operators),
    }
    return data


def _sent(source: str, stream: str, name: str = "sent") -> dict[str, Any]:
    return {"name": name, "sendTo": {"from": source, "stream": stream}}


def _kept(source: str, name: str = "kept") -> dict[str, Any]:
    return {"name": name, "filter": {"from": source, "where": "true"}}


def test_a_stream_that_is_written_from_itself_is_refused_with_the_way_back() -> None:
    (message,) = told(_app(_kept("a"), _sent("kept", "a")))
    assert message.startswith('spec.operators[1].sendTo.stream: what is written to "a" comes back to it')
    assert f"{ENDLESS}: a -> kept -> sent -> a; " in message
    assert "feedback: true" in message


def test_a_table_that_is_written_from_itself_is_not_offered_feedback() -> None:
    data = _app(_kept("a"), _sent("kept", "a"), streams={"a": {"system": "lake"}})
    data["spec"]["systems"].append({"name": "lake", "delta": {"uri": "/lake"}})
    (message,) = (each for each in told(data) if ENDLESS in each)
    assert message.endswith("; write to another table")


def test_a_way_back_through_repartitions_joins_and_other_streams_is_found() -> None:
    operators = [
        {"name": "by-b", "partitionBy": {"from": "a", "key": "user"}},
        {"name": "joined", "join": {"from": ["by-b", "c"], "within": "1m"}},
        _sent("joined", "b", "there"),
        {"name": "wide", "broadcast": {"from": "b"}},
        _sent("wide", "a", "back"),
    ]
    (message,) = told(_app(*operators))
    assert "a -> by-b -> joined -> there -> b -> wide -> back -> a" in message or (
        "b -> wide -> back -> a -> by-b -> joined -> there -> b" in message
    )


def test_two_names_of_one_topic_are_one_stream() -> None:
    (message,) = told(_app(_sent("a", "b"), streams={"b": {"topic": "a"}}))
    assert f'written to "b" comes back to it, so that {ENDLESS}: a -> sent -> a' in message


def test_every_way_back_is_told_at_the_operator_that_writes() -> None:
    messages = told(_app(_sent("a", "a", "one"), _sent("b", "b", "two")))
    assert [message.partition(":")[0] for message in messages] == [
        "spec.operators[0].sendTo.stream",
        "spec.operators[1].sendTo.stream",
    ]


def test_a_long_way_back_is_told_by_its_first_operators_and_a_count() -> None:
    chain = [_kept("a" if not i else f"o{i - 1}", f"o{i}") for i in range(400)]
    (message,) = told(_app(*chain, _sent("o399", "a")))
    assert "a -> o0 -> o1 -> o2 -> o3 -> o4 -> o5 -> (394 more) -> sent -> a; " in message


@pytest.mark.parametrize("open_stream", ["a", "b"])
def test_one_stream_of_feedback_opens_the_way_back(open_stream: str) -> None:
    operators = [_sent("a", "b", "there"), _sent("b", "a", "back")]
    assert told(_app(*operators)) != []
    assert told(_app(*operators, streams={open_stream: {"feedback": True}})) == []


def test_a_stream_that_the_app_reads_elsewhere_does_not_come_back() -> None:
    assert told(_app(_sent("a", "b", "there"), _kept("b"), _sent("kept", "c", "on"))) == []


def test_a_table_ends_the_way_back_since_it_hands_nothing_on() -> None:
    data = _app(
        {"name": "looked", "joinTable": {"from": "a", "table": "known"}},
        _sent("looked", "b"),
        {"name": "stored", "sendToTable": {"from": "b", "table": "known"}},
    )
    data["spec"]["tables"] = [{"name": "known"}]
    assert told(data) == []


@pytest.mark.parametrize("field", ["delay", "idleTimeout"])
def test_feedback_takes_no_field_of_a_watermark_that_it_does_not_have(field: str) -> None:
    time = {"column": "ts", field: "5s"}
    streams = {"a": {"feedback": True, "columns": "ts TIMESTAMP", "eventTime": time}}
    (message,) = told(_app(_sent("a", "a"), streams=streams))
    assert message.startswith(f"spec.streams[0].eventTime.{field}: ")


def test_feedback_of_a_stream_that_the_app_does_not_write_is_refused() -> None:
    (message,) = told(_app(_sent("a", "b"), streams={"a": {"feedback": True}}))
    assert message == 'spec.streams[0].feedback: no operator writes to "a"; leave it out'
