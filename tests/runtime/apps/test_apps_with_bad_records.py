"""Records that cannot be decoded, and rows on which an expression or a user's function fails."""

import json
from base64 import b64decode
from typing import Any

import pytest

from streamapp_runtime.driver.failures import FinalFailureError
from tests.harness.runs.app_runs import House, Row, Told, app, in_order, told

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, n INT"}
LETTERS = {"name": "letters"}
GOOD: list[Row] = [{"user": f"u{i % 5}", "n": i + 1} for i in range(30)]
BROKEN = Told("u1", b'{"user": "u1", "n": "many"}')
CODE = "tests.harness.user_code.graph_code"


def copying(action: Row, *operators: Row) -> Any:
    last = operators[-1]["name"] if operators else "events"
    sent = {"name": "sent", "sendTo": {"from": last, "stream": "out"}}
    streams = [EVENTS, {"name": "out"}, LETTERS]
    return app(*operators, sent, streams=streams, onBadRecord=action)


def test_a_record_that_cannot_be_decoded_ends_the_app_and_its_place_is_told(here: House) -> None:
    here.write("events", [*told(GOOD, "user"), BROKEN], partitions=1)
    with pytest.raises(FinalFailureError, match=r"events#0 at offset 30: .*n") as failed:
        here.run(copying({"action": "fail"}))
    assert failed.value.final
    assert here.rows("out") == []


def test_bad_records_are_skipped_and_counted(here: House) -> None:
    here.write("events", [BROKEN, *told(GOOD, "user"), BROKEN])
    batches = here.run(copying({"action": "skip"}), rows=8)
    assert here.rows("out") == in_order(GOOD)
    assert sum(batch.bad for batch in batches) == 2


@pytest.mark.parametrize("rows", [None, 8])
def test_bad_records_go_to_the_dead_letter_stream_with_their_reason_and_place(
    here: House, rows: int | None
) -> None:
    computed = {"name": "more", "map": {"from": "events", "select": "user, n + 0 AS n"}}
    here.write("events", [*told(GOOD, "user"), BROKEN, Told(None, b"\xff", timestamp=7)], partitions=1)
    here.run(copying({"action": "deadLetter", "stream": "letters"}, computed), rows=rows)
    assert here.rows("out") == in_order(GOOD)
    first, second = (record.value for record in here.records("letters"))
    assert (first["stream"], first["partition"], first["offset"]) == ("events", 0, 30)
    assert (b64decode(first["key"]), b64decode(first["value"])) == (b"u1", BROKEN.value)
    assert "n" in first["reason"]
    assert (second["key"], b64decode(second["value"]), second["timestamp"]) == (None, b"\xff", 7)


def test_the_rows_on_which_an_expression_fails_are_found_and_set_aside(here: House) -> None:
    wrong = [{"user": "u3", "n": 0}, {"user": "u4", "n": 0}]
    few = GOOD[:6]
    here.write("events", told([wrong[0], *few, wrong[1]], "user"))
    divided = {"name": "divided", "map": {"from": "events", "select": "user, 10 / n AS n"}}
    here.run(copying({"action": "deadLetter", "stream": "letters"}, divided))
    assert here.rows("out") == in_order([{"user": row["user"], "n": 10 / row["n"]} for row in few])
    letters = here.rows("letters")
    assert in_order([json.loads(b64decode(letter["value"])) for letter in letters]) == wrong
    assert all("Division by zero" in letter["reason"] for letter in letters)


def test_the_row_on_which_a_function_of_the_app_fails_ends_the_app_and_its_place_is_told(here: House) -> None:
    here.write("events", told(GOOD, "user"), partitions=1)
    picky = {
        "name": "picky",
        "map": {"from": "events", "python": f"{CODE}:picky", "columns": "user STRING, n INT"},
    }
    with pytest.raises(FinalFailureError, match=r"events#0 at offset 12: .*thirteen is bad luck"):
        here.run(copying({"action": "fail"}, picky))
    assert here.rows("out") == []
