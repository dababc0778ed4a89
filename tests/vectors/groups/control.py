"""Judges control.json: lets a task hear what a vector says, event by event, and compares what it was told."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from streamapp.control.bookkeeping import Bookkeeping, take_bookkeeping
from streamapp.control.bookkeeping_codec import decode_bookkeeping as decode_books
from streamapp.control.bookkeeping_codec import encode_bookkeeping as encode_books
from streamapp.control.control_message import (
    ENDED,
    Control,
    EndOfStream,
    Message,
    UpstreamTask,
    UserRecord,
    Watermark,
)
from streamapp.control.control_reader import ControlReader
from streamapp.control.control_sender import ControlSender
from streamapp.control.end_of_stream import all_ended, ends_among, partition_ended, stream_ended, tasks_ended
from streamapp.control.idle_rule import IdleRule
from streamapp.control.message_codec import decode_message, encode_message
from streamapp.control.stream_watermark import WatermarkPolicy, lowest_watermark
from streamapp.control.upstream import UpstreamProgress
from streamapp.control.upstream_tasks import upstream_tasks
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from tests.harness.core.control_pipeline import Pipeline, Watermarks

RECIPES = (
    "tests/streamapp/control/test_message_interleavings.py, test_control_restarts.py and test_idle_rule.py"
)

_INFINITY = re.compile(r"\+?(inf|infinity|max|max_value|ended|end)", re.IGNORECASE)
_NEW = {"type": "watermark", "timestamp": 0, "task": "task 0", "task_count": 1}


def run(vector: dict[str, Any]) -> list[str]:
    kinds = {
        "watermark": _heard,
        "end_of_stream": _heard,
        "checkpoint": _heard,
        "sender": _sent,
        "serde": _written,
        "producer_count": _counted,
        "pipeline": _piped,
    }
    if vector["kind"] not in kinds:
        return [f"no vectors of kind {vector['kind']} are known"]
    return list(kinds[vector["kind"]](vector))


class _Task:
    """The task that hears, its clock, and the checkpoint from which it begins again."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.partitions = [Partition.parse(text) for text in given["ssps"]]
        self.counts: Mapping[str, int] = given.get("producer_counts") or {}
        timeout = given.get("idle_timeout_ms") or -1
        idle = IdleRule(timeout, given.get("quorum_fraction", 0.5)) if timeout > 0 else None
        self.readings = {
            partition.stream: WatermarkPolicy("run", idle_tasks=idle) for partition in self.partitions
        }
        self.now = 0
        self.checkpoint = ""
        self.reader = self.restored()

    def restored(self) -> ControlReader:
        books = decode_books(self.checkpoint) if self.checkpoint else Bookkeeping(self.now)
        assert isinstance(books, Bookkeeping), books
        return ControlReader.of(self.partitions, self.now, self.readings, books.partitions, books.emitted)

    def hear(self, event: Mapping[str, Any]) -> bool:
        partition = Partition.parse(event["ssp"])
        count = event.get("task_count", self.counts.get(partition.stream, 0))
        reached = event["timestamp"] if event["type"] == "watermark" else ENDED
        if not count:
            return self.reader.reach(partition, reached, self.now)
        speaker = UpstreamTask(
            event.get("task"), count, str(event.get("run_id", "run")), event.get("model_version", 1)
        )
        message = (
            Watermark(speaker, reached)
            if event["type"] == "watermark"
            else EndOfStream(speaker, partition.stream)
        )
        return self.reader.accept(partition, _through_bytes(message), self.now)


def _through_bytes(message: Control) -> Control:
    read = decode_message(encode_message(message))
    assert isinstance(read, Watermark | EndOfStream), read
    return read


def _heard(vector: dict[str, Any]) -> Iterator[str]:
    task = _Task(vector["input"])
    for number, event in enumerate(vector["events"]):
        task.now += event.get("advance_ms", 0)
        moved: dict[str, int] = {}
        counted: bool | None = None
        if event.get("type") in {"watermark", "end_of_stream"}:
            counted = task.hear(event)
            moved = task.reader.advance(task.now)
        elif event.get("type") == "tick":
            moved = task.reader.advance(task.now)
        elif event.get("type") == "checkpoint":
            task.checkpoint = encode_books(take_bookkeeping(task.reader, {}, task.now))
        elif event.get("type") == "crash_and_restore":
            task.reader = task.restored()
        elif "advance_ms" not in event:
            yield f"event {number}: nothing is known of {event}"
        where = Partition.parse(event["ssp"]) if "ssp" in event else task.partitions[0]
        for difference in _told(task.reader, where, moved, counted, event.get("expect") or {}):
            yield f"event {number}: {difference}"
        yield from _remembered(task, event.get("expect_state") or {})


def _remembered(task: _Task, expect: Mapping[str, Any]) -> Iterator[str]:
    """The books are by partition; the seed's, by stream, are those of a task with one partition of it."""
    books = [
        _in_words(Partition(name, index), upstream, task.counts)
        for name, stream in task.reader.streams.items()
        for index, upstream in stream.partitions.items()
    ]
    expected = {name: sorted(value) if name == "tasks" else value for name, value in expect.items()}
    if not any(expected == {name: one.get(name) for name in expected} for one in books):
        yield f"no partition has the books {expect}: {books}"


def _in_words(partition: Partition, upstream: UpstreamProgress, counts: Mapping[str, int]) -> dict[str, Any]:
    """The books of one partition in the words of the seed's two checkpoints."""
    ended = tasks_ended(upstream)
    return {
        "streamId": partition.stream,
        "totalTasks": upstream.tasks or counts.get(partition.stream, 0),
        "tasks": sorted(ended),
        "tasksToEventTime": {task: at for task, at in upstream.reached.items() if task not in ended},
        "timestampOfLastEmission": upstream.watermark,
    }


def _told(
    reader: ControlReader,
    where: Partition,
    moved: Mapping[str, int],
    counted: bool | None,
    expect: Mapping[str, Any],
) -> Iterator[str]:
    upstream, stream = reader.upstream(where), reader.streams.get(where.stream)
    found: dict[str, Any] = {
        "partition_watermark": upstream.watermark if upstream else None,
        "partition_eos": upstream is not None and partition_ended(upstream),
        "stream_watermark": stream.emitted if stream else None,
        "stream_eos": stream is not None and stream_ended(stream),
        "all_eos": all_ended(reader.streams.values()),
        "task_watermark": lowest_watermark(reader.watermarks().values()),
        "accepted": counted,
        "ignored": counted is False,
        "emitted": moved.get(where.stream),
    }
    if isinstance(expect.get("emitted"), bool):
        found["emitted"] = where.stream in ends_among(moved)
    for name, expected in expect.items():
        if name not in found:
            yield f"nothing is known of {name}"
        elif found[name] != _number(expected):
            yield f"{name} is {found[name]}, not {expected}"


def _number(expected: Any) -> Any:
    """What a vector expects, with the end of time as the product writes it."""
    if isinstance(expected, str) and _INFINITY.fullmatch(expected):
        return ENDED
    return expected


def _sent(vector: dict[str, Any]) -> Iterator[str]:
    given, expect = vector["input"], vector["expect"]
    if given.get("design") == "aggregate":
        yield "upstream tasks write to every partition themselves; no task aggregates for others"
        return
    names = given.get("tasks") or re.findall(r"'([^']+)'", given.get("call", "")) or ["task 0"]
    tasks = [f"task {number}" for number in range(names)] if isinstance(names, int) else names
    records = [
        record
        for task in tasks
        for sender in [
            ControlSender("int", given["partitions"], UpstreamTask(task, len(tasks), "run", 1), 1_000)
        ]
        for record in sender.records(sender.due(5, None, 0) or EndOfStream(sender.speaker, "int"))
    ]
    partitions = [partition.index for partition, _ in records]
    found = {
        "messages": len(records),
        "distinct_partitions": len(set(partitions)),
        "messages_per_partition": len(records) // given["partitions"],
        "partitions": sorted(set(partitions)),
    }
    for name, expected in expect.items():
        if found.get(name) != expected:
            yield f"{name} is {found.get(name)}, not {expected}"


def _written(vector: dict[str, Any]) -> Iterator[str]:
    given, expect = vector["input"], vector["expect"]
    if "bytes" in given or "bytes_hex" in given:
        value = bytes(given["bytes"]) if "bytes" in given else bytes.fromhex(given["bytes_hex"])
        read = decode_message(value)
        found: dict[str, Any] = {
            "round_trip": not isinstance(read, Refusal) and encode_message(read) == value
        }
    else:
        message = _message(_NEW | given)
        value = encode_message(message) or b""
        read = decode_message(value)
        found = {"round_trip": read == message}
    found |= {
        "first_byte": value[0] if value else None,
        "outcome": "rejected" if isinstance(read, Refusal) else "accepted",
        "error": isinstance(read, Refusal),
        "rejected": isinstance(read, Refusal),
    }
    for name, expected in expect.items():
        met = bool(expected) == found[name] if name == "error" else found.get(name) == expected
        if not met:
            yield f"{name} is {found.get(name)}, not {expected}: {read}"


def _message(given: Mapping[str, Any]) -> Message:
    if given["type"] == "user":
        payload = given["payload"]
        if payload is None:
            return UserRecord(None)
        return UserRecord(payload.encode() if isinstance(payload, str) else json.dumps(payload).encode())
    speaker = UpstreamTask(given["task"], given["task_count"], "run", 1)
    if given["type"] == "watermark":
        return Watermark(speaker, given["timestamp"])
    return EndOfStream(speaker, given.get("stream") or "int")


def _counted(vector: dict[str, Any]) -> Iterator[str]:
    given = vector["input"]
    tasks = upstream_tasks(given["intermediate_to_inputs"], given["stream_to_tasks"])
    for stream, count in vector["expect"].items():
        if len(tasks[stream]) != count:
            yield f"{stream} has the upstream tasks {tasks[stream]}, not {count}"


def _piped(vector: dict[str, Any]) -> Iterator[str]:
    given, expect = vector["input"], dict(vector["expect"])
    pipeline = Pipeline(given["source_partitions"], given["intermediate_partitions"])
    before_the_end: Watermarks | None = None
    for now, (source, kind, *rest) in enumerate(given["events"]):
        if kind == "eos" and before_the_end is None:
            before_the_end = pipeline.watermarks()
        if kind in {"wm", "eos"}:
            pipeline.step(int(re.sub(r"\D", "", source)), rest[0] if kind == "wm" else ENDED, now)
    terminates = all(all_ended(task.streams.values()) for task in pipeline.tasks.values())
    if expect.pop("job_terminates", terminates) != terminates:
        yield f"the job terminates: {terminates}"
    after, before = pipeline.watermarks(), before_the_end or pipeline.watermarks()
    for task, operators in expect.items():
        for operator, sides in operators.items():
            for side, expected in sides.items():
                number = _number(expected)
                found = (after if number == ENDED else before)[task][operator][side]
                if found != number:
                    yield f"{task}: {side} of {operator} is {found}, not {expected}"
