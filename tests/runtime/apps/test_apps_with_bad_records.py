"""Records that cannot be decoded, and rows on which an expression or a user's function fails."""

import json
import os
import re
import subprocess
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest

from streamapp_runtime.crash_points import VARIABLE
from streamapp_runtime.driver.batches.run_settings import CurrentRun
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.lanes.protocol.rejections import LONGEST_SAMPLE, MOST_SAMPLES
from tests.harness.runs.app_runs import AppEnv, Input, Row, app, in_order, inputs
from tests.harness.runs.drained_loop import drain

EVENTS = {"name": "events", "key": "user", "columns": "user STRING, n INT"}
LETTERS = {"name": "letters"}
GOOD: list[Row] = [{"user": f"u{i % 5}", "n": i + 1} for i in range(30)]
BROKEN = Input("u1", b'{"user": "u1", "n": "many"}')
BAD_USER = Input("u9", b'{"user": "u9", "country": ["many"]}')
CODE = "tests.harness.user_code.graph_code"


def copying(action: Row, *operators: Row, **spec: Any) -> Any:
    last = operators[-1]["name"] if operators else "events"
    sent = {"name": "sent", "sendTo": {"from": last, "stream": "out"}}
    streams = [EVENTS, {"name": "out"}, LETTERS]
    return app(*operators, sent, streams=streams, onBadRecord=action, **spec)


def python(function: str) -> Row:
    return {
        "name": function,
        "map": {"from": "events", "python": f"{CODE}:{function}", "columns": "user STRING, n INT"},
    }


def test_a_record_that_cannot_be_decoded_ends_the_app_and_its_place_is_told(env: AppEnv) -> None:
    env.write("events", [*inputs(GOOD, "user"), BROKEN], partitions=1)
    with pytest.raises(FinalFailureError, match=r'events#0 at offset 30, key "u1": .*n') as failed:
        env.run(copying({"action": "fail"}))
    assert failed.value.final
    assert env.rows("out") == []


def test_bad_records_are_skipped_and_counted(env: AppEnv) -> None:
    env.write("events", [BROKEN, *inputs(GOOD, "user"), BROKEN])
    batches = env.run(copying({"action": "skip"}), rows=8)
    assert env.rows("out") == in_order(GOOD)
    assert sum(batch.bad for batch in batches) == 2


@pytest.mark.parametrize("show_values", [False, True])
def test_samples_of_bad_records_have_their_content_only_where_values_are_shown(
    env: AppEnv, show_values: bool
) -> None:
    long = Input("u2", b'{"user": "u2", "n": "' + b"x" * 500 + b'"}')
    env.write("events", [*inputs(GOOD, "user"), BROKEN, long, *[BROKEN] * 5], partitions=1)
    _, ready = env.launched(copying({"action": "skip"}), show_values=show_values)
    loop = env.loop(CurrentRun.of(ready, batch_rows=1_000), pause=lambda _: None)
    loop.start()
    samples = [sample for result in drain(loop) for sample in result.samples]
    loop.release()
    assert len(samples) == MOST_SAMPLES
    assert {(one.stream, one.partition) for one in samples} == {("events", 0)}
    first, second = (next(one for one in samples if one.offset == offset) for offset in (30, 31))
    assert "n" in first.reason
    if show_values:
        assert (first.key, first.value) == ("u1", '{"user": "u1", "n": "many"}')
        assert second.value == long.value.decode()[:LONGEST_SAMPLE] + "..."
    else:
        assert {(one.key, one.value) for one in samples} == {(None, None)}


@pytest.mark.parametrize("rows", [None, 8])
def test_bad_records_go_to_the_dead_letter_stream_with_their_reason_and_place(
    env: AppEnv, rows: int | None
) -> None:
    computed = {"name": "more", "map": {"from": "events", "select": "user, n + 0 AS n"}}
    env.write("events", [*inputs(GOOD, "user"), BROKEN, Input(None, b"\xff", timestamp=7)], partitions=1)
    env.run(copying({"action": "deadLetter", "stream": "letters"}, computed), rows=rows)
    assert env.rows("out") == in_order(GOOD)
    first, second = (record.value for record in env.records("letters"))
    assert (first["stream"], first["partition"], first["offset"]) == ("events", 0, 30)
    assert (b64decode(first["key"]), b64decode(first["value"])) == (b"u1", BROKEN.value)
    assert "n" in first["reason"]
    assert (second["key"], b64decode(second["value"]), second["timestamp"]) == (None, b"\xff", 7)


def test_the_rows_on_which_an_expression_fails_are_found_and_set_aside(env: AppEnv) -> None:
    wrong = [{"user": "u3", "n": 0}, {"user": "u4", "n": 0}]
    few = GOOD[:6]
    env.write("events", inputs([wrong[0], *few, wrong[1]], "user"))
    divided = {"name": "divided", "map": {"from": "events", "select": "user, 10 / n AS n"}}
    env.run(copying({"action": "deadLetter", "stream": "letters"}, divided))
    assert env.rows("out") == in_order([{"user": row["user"], "n": 10 / row["n"]} for row in few])
    letters = env.rows("letters")
    assert in_order([json.loads(b64decode(letter["value"])) for letter in letters]) == wrong
    assert all("Division by zero" in letter["reason"] for letter in letters)


def test_the_row_on_which_a_function_of_the_app_fails_ends_the_app_and_its_place_is_told(env: AppEnv) -> None:
    env.write("events", inputs(GOOD, "user"), partitions=1)
    with pytest.raises(FinalFailureError, match=r'events#0 at offset 12, key "u2": .*thirteen is bad luck'):
        env.run(copying({"action": "fail"}, python("picky")))
    assert env.rows("out") == []


@pytest.mark.parametrize(
    ("action", "letters"),
    [({"action": "skip"}, None), ({"action": "deadLetter", "stream": "letters"}, [])],
)
def test_an_error_of_the_apps_code_ends_an_app_that_goes_on_after_bad_records(
    env: AppEnv, action: Row, letters: list[Row] | None
) -> None:
    env.write("events", [BROKEN, *inputs(GOOD, "user")], partitions=1)
    expected = r'own code fails on a record: events#0 at offset 13, key "u2": .*luck'
    with pytest.raises(FinalFailureError, match=expected):
        env.run(copying(action, python("picky")))
    assert env.rows("out") == []
    stream = env.system.partitions(f"{env.prefix}letters")
    assert (env.rows("letters") if stream else None) == letters


def test_a_record_on_which_the_apps_code_fails_goes_to_the_stream_for_such_errors(env: AppEnv) -> None:
    env.write("events", inputs(GOOD, "user"))
    caught = {"action": "deadLetter", "stream": "letters"}
    batches = env.run(copying({"action": "fail"}, python("picky"), onCodeError=caught))
    assert env.rows("out") == in_order([row for row in GOOD if row["n"] != 13])
    (letter,) = env.rows("letters")
    assert json.loads(b64decode(letter["value"])) == GOOD[12]
    assert "thirteen is bad luck" in letter["reason"]
    (counted,) = [dict(batch.rejected) for batch in batches if batch.rejected]
    assert counted == {("events", letter["reason"].splitlines()[0]): 1}


@pytest.mark.parametrize("name", ["picky", "divided"])
def test_rows_that_are_read_again_by_trials_and_other_attempts_are_counted_once(
    env: AppEnv, name: str
) -> None:
    env.write("events", inputs(GOOD, "user"), partitions=2)
    caught = {"action": "deadLetter", "stream": "letters"}
    divided = {"name": "divided", "map": {"from": "events", "select": "user, 10 / (n - 13) AS n"}}
    operator = python("picky") if name == "picky" else divided
    batches = env.run(copying(caught, operator, onCodeError=caught), rows=20)
    assert sum(batch.rows_in for batch in batches) == len(GOOD)
    assert sum(batch.rows_out for batch in batches) == len(env.rows("out")) + len(env.rows("letters"))
    assert sum(batch.read["events"] for batch in batches) == len(GOOD)


def test_a_record_on_which_code_fails_is_found_though_a_table_is_filled_between_the_attempts(
    env: AppEnv,
) -> None:
    """Each attempt begins with batches that read for the table alone, and that succeed."""
    users: list[Row] = [{"user": f"u{number}", "country": "de"} for number in range(40)]
    env.write("users", inputs(users[:5], "user"), partitions=1)
    env.write("events", inputs(GOOD, "user"), partitions=1)
    joined = {
        "name": "joined",
        "joinTable": {"from": "picky", "table": "people", "key": "user", "select": "user, n"},
    }
    made = app(
        python("picky"),
        joined,
        {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}},
        streams=[
            EVENTS,
            {"name": "users", "key": "user", "columns": "user STRING, country STRING"},
            {"name": "out"},
        ],
        tables=[
            {
                "name": "people",
                "store": "rocksdb",
                "broadcast": True,
                "sideInputs": [{"stream": "users", "bootstrap": True}],
            }
        ],
        onCodeError={"action": "skip"},
    )
    _, ready = env.launched(made)
    loop = env.loop(CurrentRun.of(ready), pause=lambda _: None)
    loop.start()
    for user in users[5:]:
        env.write("users", inputs([user], "user"), partitions=1)
        loop.step()
        if loop.bad_records.bad and not loop.bad_records.suspects:
            break
    assert env.rows("out") == in_order([row for row in GOOD if row["n"] != 13])


def joining(store: str) -> Any:
    joined = {"from": "events", "table": "people", "select": "user, n, country"}
    return app(
        {"name": "joined", "joinTable": joined},
        {"name": "sent", "sendTo": {"from": "joined", "stream": "out"}},
        streams=[
            EVENTS,
            {"name": "users", "key": "user", "columns": "user STRING, country STRING"},
            {"name": "out"},
            LETTERS,
        ],
        tables=[
            {"name": "people", "store": store, "sideInputs": [{"stream": "users", "bootstrap": True}]},
        ],
        onBadRecord={"action": "deadLetter", "stream": "letters"},
    )


def with_bad_user(env: AppEnv) -> list[Row]:
    """Users of whom one record is bad, and events; what is joined of them."""
    users: list[Row] = [{"user": f"u{number}", "country": "de"} for number in range(5)]
    env.write("users", [*inputs(users[:3], "user"), BAD_USER, *inputs(users[3:], "user")], partitions=1)
    env.write("events", inputs(GOOD, "user"), partitions=1)
    return [row | {"country": "de"} for row in GOOD]


def test_a_bad_record_of_a_table_is_set_aside_once_though_the_table_is_filled_anew(env: AppEnv) -> None:
    joined = with_bad_user(env)
    env.run(joining("memory"))
    env.write("events", inputs(GOOD, "user"), partitions=1)
    env.run(joining("memory"))
    assert env.rows("out") == in_order(joined * 2)
    assert [(letter["stream"], letter["offset"]) for letter in env.rows("letters")] == [("users", 3)]


@pytest.mark.usefixtures("process")
def test_a_bad_record_of_a_table_is_set_aside_though_the_worker_is_lost_with_the_batch(
    env: AppEnv, tmp_path: Path
) -> None:
    """The table has the rows of the batch by then, so that they are not read into it again."""
    joined, points = with_bad_user(env), tmp_path / "points"
    points.mkdir()
    (points / "adjunct.applied").touch()
    command = env.command(joining("rocksdb"), "--until-end")
    subprocess.run(command, env=os.environ | {VARIABLE: str(points)}, timeout=400, check=True)
    assert not (points / "adjunct.applied").exists(), "no worker was ended"
    assert env.rows("out") == in_order(joined)
    assert [(letter["stream"], letter["offset"]) for letter in env.rows("letters")] == [("users", 3)]


def test_code_that_fails_on_every_record_ends_an_app_that_skips_them_at_the_bound(env: AppEnv) -> None:
    env.write("events", inputs(GOOD, "user"), partitions=1)
    skipping = {"action": "skip", "bound": {"inARow": 3}}
    with pytest.raises(FinalFailureError, match=r"events#0: 4 records in a row, .*offset 0: .*KeyError"):
        env.run(copying({"action": "skip"}, python("broken"), onCodeError=skipping))


def test_beyond_so_many_bad_records_in_a_row_the_app_ends_and_nothing_beyond_the_bound_is_left_out(
    env: AppEnv,
) -> None:
    env.write("events", [*inputs(GOOD[:10], "user"), *[BROKEN] * 4, *inputs(GOOD[10:], "user")], partitions=1)
    few = copying({"action": "skip", "bound": {"inARow": 3}})
    expected = r"events#0: 4 records in a row, and the bound is 3: events#0 at offset 10: n: found"
    for _ in range(2):  # who starts it again as it is comes no further
        with pytest.raises(FinalFailureError, match=expected) as ended:
            env.run(few, rows=8)
        assert ended.value.final
        assert env.rows("out") == in_order(GOOD[:8])
    batches = env.run(copying({"action": "skip", "bound": {"inARow": 4}}), rows=8)
    assert env.rows("out") == in_order(GOOD)
    assert sum(batch.bad for batch in batches) == 4


def test_the_share_of_a_window_is_counted_over_batches(env: AppEnv) -> None:
    scattered = [record for row in GOOD for record in (*inputs([row], "user"), BROKEN)]
    env.write("events", scattered, partitions=1)
    bound = {"share": "9.5%", "window": 100}
    with pytest.raises(FinalFailureError, match="12 records at the offsets 0 to 99, and the bound is 10 of"):
        env.run(copying({"action": "skip", "bound": bound}), rows=6)
    assert env.rows("out") == in_order(GOOD[:9])


def test_an_input_of_ten_records_may_have_a_bad_one_though_that_is_more_than_the_share(env: AppEnv) -> None:
    env.write("events", [*inputs(GOOD[:9], "user"), BROKEN], partitions=1)
    env.run(copying({"action": "skip"}))
    assert env.rows("out") == in_order(GOOD[:9])


@pytest.mark.usefixtures("process")
def test_a_run_that_ends_at_an_expression_says_so_in_a_few_lines(
    env: AppEnv,
) -> None:
    env.write("events", inputs([*GOOD[:3], {"user": "u3", "n": 0}], "user"), partitions=1)
    divided = {"name": "divided", "map": {"from": "events", "select": "initcap(user) AS user, 10 % n AS n"}}
    command = env.command(copying({"action": "fail"}, divided), "--until-end", "--processors", "1")
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 1
    assert re.search(r'cannot be processed: events#0 at offset 3, key "u3": Spark says: Remai', ended.stderr)
    assert len(ended.stderr) < 2000
    assert "Traceback" not in ended.stderr
