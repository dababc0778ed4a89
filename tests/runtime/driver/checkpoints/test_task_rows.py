"""Rows of a task's state as objects that every reader of JSON takes."""

import json

import pyarrow as pa

from streamapp_runtime.driver.checkpoints.committed_rows import TaskRows


def test_what_json_has_no_number_for_is_a_text() -> None:
    numbers = pa.array([float("nan"), float("-inf"), 1.5])
    keys = pa.array([b"a", b"\xff", b"c"], pa.binary())
    rows = list(TaskRows("\0every", keys, pa.record_batch({"n": numbers})).objects())
    assert [row["row"]["n"] for row in rows] == ["NaN", "-Infinity", 1.5]
    assert [(row["task"], row["key"]) for row in rows] == [("every", "a"), ("every", "\\xff"), ("every", "c")]
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
