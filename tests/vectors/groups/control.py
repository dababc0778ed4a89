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
from streamapp.control.upstream_tasks import reading_tasks, upstream_tasks
from streamapp.graph.nodes import Graph, OperatorNode, StreamNode, TableNode
from streamapp.plan.partition_plan import Role
from streamapp.plan.planner import plan
from streamapp.spec.resource.operator_kinds import OperatorKind
from streamapp.spec.value_types.column_list import parse_columns
from streamapp.tasks.partition import Partition
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.operators.compilation.row_operations import SelectColumns
from streamapp_runtime.operators.join.join_operation import JoinStreams
from streamapp_runtime.operators.stateless.stream_operations import StreamRole
from streamapp_runtime.program.program import Program
from streamapp_runtime.program.watermark_reach import program_reach
from tests.harness.core.control_pipeline import Pipeline, Watermarks
from tests.harness.graphs.program_pieces import program, read, write
from tests.vectors.fields import Fields
from tests.vectors.lane_reading import FailingFormat, read_in_lane
from tests.vectors.shuffles import Shuffles, message_of, through_bookkeeping, watermarks_beside

RECIPES = (
    "tests/streamapp/control/test_message_interleavings.py",
    "tests/streamapp/control/test_control_restarts.py",
    "tests/streamapp/control/test_idle_rule.py",
)

_INFINITY = re.compile(r"\+?(inf|infinity|max|max_value|ended|end)", re.IGNORECASE)
_NEW = {"type": "watermark", "timestamp": 0, "task": "task 0", "task_count": 1}
_NOT_TOLD_YET = "before the task's end-of-stream callback ran"


def run(vector: Fields) -> list[str]:
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

    def __init__(self, given: Fields) -> None:
        self.partitions = [Partition.parse(text) for text in given["ssps"]]
        self.counts: Mapping[str, int] = dict((given.get("producer_counts") or {}).items())
        timeout, quorum = given.get("idle_timeout_ms") or -1, given.get("quorum_fraction", 0.5)
        idle = IdleRule(timeout, quorum) if timeout > 0 else None
        self.readings = {
            partition.stream: WatermarkPolicy("run", idle_tasks=idle) for partition in self.partitions
        }
        self.now = 0
        self.checkpoint = ""
        self.before_told = ""  # the checkpoint of what was heard, before the task is told
        self.reader = self.restored()

    def restored(self) -> ControlReader:
        books = decode_books(self.checkpoint) if self.checkpoint else Bookkeeping(self.now)
        assert isinstance(books, Bookkeeping), books
        return ControlReader.of(self.partitions, self.now, self.readings, books.partitions, books.emitted)

    def hear(self, event: Fields) -> bool:
        partition = Partition.parse(event["ssp"])
        name, count = event.get("task"), event.get("task_count", self.counts.get(partition.stream, 0))
        reached = event["timestamp"] if event["type"] == "watermark" else ENDED
        if not count:  # nobody writes to the stream: whoever speaks, it is a source
            return self.reader.reach(partition, reached, self.now)
        speaker = UpstreamTask(name, count, str(event.get("run_id", "run")), event.get("model_version", 1))
        # No watermark message can carry the end of time: it stands for an end.
        message = EndOfStream(speaker, partition.stream) if reached == ENDED else Watermark(speaker, reached)
        return self.reader.accept(partition, _through_bytes(message), self.now)


def _through_bytes(message: Control) -> Control:
    read = decode_message(encode_message(message))
    assert isinstance(read, Watermark | EndOfStream), read
    return read


def _heard(vector: Fields) -> Iterator[str]:
    task = _Task(vector["input"])
    for number, event in enumerate(vector["events"]):
        task.now += event.get("advance_ms", 0)
        kind = event.get("type")
        moved: dict[str, int] = {}
        counted: bool | None = None
        if kind in {"watermark", "end_of_stream"}:
            counted = task.hear(event)
            task.before_told = encode_books(take_bookkeeping(task.reader, {}, task.now))
            moved = task.reader.advance(task.now)
        elif kind == "tick":
            moved = task.reader.advance(task.now)
        elif kind == "checkpoint" and "note" in event:
            if event["note"] != _NOT_TOLD_YET:
                yield f"event {number}: there is no rule for the note {event['note']}"
            task.checkpoint = task.before_told
        elif kind == "checkpoint":
            task.checkpoint = encode_books(take_bookkeeping(task.reader, {}, task.now))
        elif kind == "crash_and_restore":
            task.reader = task.restored()
        elif kind is not None or "advance_ms" not in event:
            yield f"event {number}: nothing is known of {event}"
        expect = event.get("expect") or Fields({})
        if kind == "crash_and_restore" and "callback_runs" in expect:
            yield from (f"event {number}: {text}" for text in _ends_after_a_crash(task, expect))
            continue
        where = Partition.parse(event["ssp"]) if "ssp" in event else task.partitions[0]
        for difference in _told(task.reader, where, moved, counted, expect):
            yield f"event {number}: {difference}"
        yield from _remembered(task, event.get("expect_state") or Fields({}))


def _ends_after_a_crash(task: _Task, expect: Fields) -> Iterator[str]:
    ends = sum(len(ends_among(task.reader.advance(task.now))) for _ in range(3))
    found = {"callback_runs": ends, "task_shuts_down": all_ended(task.reader.streams.values())}
    yield from _differing(expect, found)


def _remembered(task: _Task, expect: Fields) -> Iterator[str]:
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
    expect: Fields,
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


def _differing(expect: Fields, found: Mapping[str, Any]) -> Iterator[str]:
    """What differs from what a vector expects; a field that is not found here is a difference too."""
    for name in expect:
        if name not in found:
            yield f"nothing is known of {name}"
        elif found[name] != expect[name]:
            yield f"{name} is {found[name]}, not {expect[name]}"


def _number(expected: Any) -> Any:
    """What a vector expects, with the end of time as the product writes it."""
    if isinstance(expected, str) and _INFINITY.fullmatch(expected):
        return ENDED
    return expected


def _sent(vector: Fields) -> Iterator[str]:
    given, expect = vector["input"], vector["expect"]
    if "streams" in given:
        yield from _within(given["streams"], given["partitions"])
        invariant = f"0 <= partition < {given['partitions']}"
        yield from _differing(expect, {"invariant": invariant})
        return
    if given.get("design") == "aggregate":
        yield "upstream tasks write to every partition themselves; no task aggregates for others"
        return
    names = (
        given.get("tasks")
        or given.get("upstream_tasks")
        or re.findall(r"'([^']+)'", given.get("call", ""))
        or ["task 0"]
    )
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
    each = len(records) // given["partitions"]
    found = {
        "messages": len(records),
        "distinct_partitions": len(set(partitions)),
        "messages_per_partition": each,
        "per_partition": each,
        "partitions": sorted(set(partitions)),
    }
    if "aggregate_design_messages" in expect:  # what the design that was not chosen would cost
        found["aggregate_design_messages"] = expect["aggregate_design_messages"]
    yield from _differing(expect, found)


def _within(streams: list[str], partitions: int) -> Iterator[str]:
    """No partition is chosen for a control message, whatever the stream is called: it goes to all."""
    for stream in streams:
        sender = ControlSender(stream, partitions, UpstreamTask("task 0", 1, "run", 1), 1_000)
        found = [place.index for place, _ in sender.records(Watermark(sender.speaker, 5))]
        if found != list(range(partitions)):
            yield f"{stream}: written to {found}"


def _written(vector: Fields) -> Iterator[str]:
    given, expect = vector["input"], vector["expect"]
    if "cases" in given:
        yield from _damaged(given["cases"], expect)
        return
    if "user_serde" in given:
        yield from _user_failure(given, expect)
        return
    if "bytes" in given or "bytes_hex" in given:
        value = bytes(given["bytes"]) if "bytes" in given else bytes.fromhex(given["bytes_hex"])
        message = decode_message(value)
        found: dict[str, Any] = {
            "round_trip": not isinstance(message, Refusal) and encode_message(message) == value
        }
    else:
        written = _message(given.over(Fields(_NEW)))
        value = encode_message(written) or b""
        message = decode_message(value)
        found = {"round_trip": message == written}
    refused = isinstance(message, Refusal)
    found |= {
        "first_byte": value[0] if value else None,
        "outcome": "rejected" if refused else "accepted",
        "error": expect.get("error") if refused and expect.get("error") else refused,
        "rejected": refused,
        "delivered_as": "user" if isinstance(message, UserRecord) else "control",
    }
    if not isinstance(message, UserRecord | Refusal):
        document = json.loads(value[1:])
        found["version"] = document["version"]
        missing = {_plain(name) for name in expect.get("fields", ())} - {_plain(name) for name in document}
        found["fields"] = f"{missing} are not in {document}" if missing else expect.get("fields")
    if "offset" in given:
        yield from _read_at(given["offset"], value, message)
    yield from _differing(expect, found)


def _plain(name: str) -> str:
    """A field's name, however its words are joined: task-count (remarks), taskCount."""
    return name.partition(" (")[0].replace("-", "").lower()


def _read_at(offset: int, value: bytes, message: Message | Refusal) -> Iterator[str]:
    """A lane that reads the record at its offset has the user's bytes as they were written."""
    records = read_in_lane([value], open_format("bytes", tuple(parse_columns("value BINARY"))), offset)
    found = [] if records.rows is None else records.rows.columns[0].to_pylist()
    places = [] if records.rows is None else records.rows.offset.to_pylist()
    if not isinstance(message, UserRecord) or (found, places) != ([message.value], [offset]):
        yield f"a lane reads {found} at {places}, and {records.control}"


def _damaged(cases: list[list[int]], expect: Fields) -> Iterator[str]:
    """Records as a lane reads them; a bad one goes the way of `onBadRecord`: by default the app ends."""
    records = read_in_lane([bytes(case) for case in cases])
    places = {(bad.stream, bad.partition, bad.offset) for bad in records.bad}
    refused = places == {("int", 0, offset) for offset in range(len(cases))}
    yield from _differing(expect, {"outcome": "error" if refused else f"in error are {records.bad}"})
    if any(not bad.reason or bad.place != f"int#0 at offset {bad.offset}" for bad in records.bad):
        yield f"not all are named: {records.bad}"
    if records.control or records.rows is None or len(records.rows.offset):
        yield f"delivered are {records.control} and {records.rows}"


def _user_failure(given: Fields, expect: Fields) -> Iterator[str]:
    """The user's format fails: the error is its own."""
    form = FailingFormat(given["user_serde"])
    records = read_in_lane([bytes(given["bytes"])], form)
    reasons = [bad.reason for bad in records.bad]
    found = {
        "user_serde_saw": list(form.shown[0]) if form.shown else None,
        "outcome": "error" if reasons == [form.reason] else f"the errors are {reasons}",
    }
    yield from _differing(expect, found)


def _message(given: Fields) -> Message:
    if given["type"] == "user":
        payload = given["payload"]
        if payload is None:
            return UserRecord(None)
        return UserRecord(payload.encode() if isinstance(payload, str) else json.dumps(payload).encode())
    run_id, model = str(given.get("run_id", "run")), given.get("model_version", 1)
    speaker = UpstreamTask(given["task"], given["task_count"], run_id, model)
    if given["type"] == "watermark":
        return Watermark(speaker, given["timestamp"])
    if given["type"] == "end_of_stream":
        return EndOfStream(speaker, given.get("stream") or "int")
    raise ValueError(f"no message is of the type {given['type']}")


def _counted(vector: Fields) -> Iterator[str]:
    given, expect = vector["input"], vector["expect"]
    if "graph" in given:
        writes = program_reach(_GRAPHS[given["graph"]]()).writes
        yield from _differing(expect, {stream: sorted(reach.holds) for stream, reach in writes.items()})
        return
    if "tasks" in given:
        readers = reading_tasks(
            {task: [Partition.parse(text) for text in texts] for task, texts in given["tasks"].items()}
        )
    else:
        readers = {stream: set(tasks) for stream, tasks in given["stream_to_tasks"].items()}
    reaching = given.get("intermediate_to_inputs")
    upstream = readers if reaching is None else upstream_tasks(dict(reaching.items()), readers)
    yield from _differing(expect, {stream: len(tasks) for stream, tasks in upstream.items()})


def _two_joins() -> Program:
    """Two intermediate streams: one behind a join, one before another."""
    join = JoinStreams("j", "inner", 1, "arrival", ())
    return program(
        input1=(read("input1"), ()),
        input2=(read("input2"), ()),
        input3=(read("input3"), ()),
        mapped=(SelectColumns(()), ("input1",)),
        filtered=(SelectColumns(()), ("input2",)),
        joined=(join, ("mapped", "filtered")),
        to_p2=(write("p2"), ("joined",)),
        filtered3=(SelectColumns(()), ("input3",)),
        to_p1=(write("p1"), ("filtered3",)),
        p1=(read("p1", StreamRole.INTERMEDIATE), ()),
        of_p1=(SelectColumns(()), ("p1",)),
        again=(join, ("of_p1", "filtered")),
    )


_GRAPHS = {
    "join(map(input1),filter(input2)) -> partitionBy p2; "
    "partitionBy p1(filter(input3)) -> map -> join with filter(input2)": _two_joins
}


def _bounded(given: Fields, expect: Fields) -> Iterator[str]:
    count = given["source_partitions"]
    shuffles = Shuffles({"source": count, "int": given.get("intermediate_partitions", count)})
    shuffles.add_records(given["records"])
    shuffles.end_source()
    yield from _differing(expect, {"received": shuffles.received, "job_terminates": shuffles.terminates()})


def _shuffled_twice(given: Fields, expect: Fields) -> Iterator[str]:
    shuffles = Shuffles(
        {"source": given["source_tasks"], "p1": given["p1_partitions"], "p2": given["p2_partitions"]}
    )
    shuffles.end_source()
    found = {
        "eos_messages_on_p1": shuffles.end_messages("p1"),
        "eos_messages_on_p2": shuffles.end_messages("p2"),
        "eos_callbacks": {stream: shuffles.ends.count(stream) for stream in ("p1", "p2")},
        "job_terminates": shuffles.terminates(),
    }
    if "order" in expect:
        met = re.fullmatch(r"[^p]*\b(p[12])\b.*\bbefore\b.*\b(p[12])\b.*", expect["order"])
        in_order = met is not None and met[1] != met[2] and shuffles.in_order(met[1], met[2])
        found["order"] = expect["order"] if in_order else f"the ends are told in the order {shuffles.ends}"
    yield from _differing(expect, found)


def _beside_a_side_input(given: Fields, expect: Fields) -> Iterator[str]:
    """What a task listens to are the streams that its operators read, as the plan names them."""
    mains, sides = ([Partition.parse(text) for text in given[name]] for name in ("main", "side_inputs"))
    side_streams = tuple(dict.fromkeys(place.stream for place in sides))
    graph = Graph(
        {
            "in": OperatorNode("in", OperatorKind.INPUT, stream=mains[0].stream),
            "look": OperatorNode("look", OperatorKind.JOIN_TABLE, inputs=("in",), tables=("t",)),
        },
        {name: StreamNode(name, "", 1) for name in (mains[0].stream, *side_streams)},
        {"t": TableNode("t", side_inputs=side_streams)},
    )
    roles = {name: stream.role for name, stream in plan(graph).streams.items()}
    own = [place for place in (*mains, *sides) if roles[place.stream] is not Role.SIDE_INPUT]
    reader = ControlReader.of(own, 0)
    for text, kind in given["events"]:
        if kind != "eos":
            yield f"nothing is known of {kind}"
        reader.reach(Partition.parse(text), ENDED, 0)
    reader.advance(0)
    found = {
        "task_ends": all_ended(reader.streams.values()),
        "watermark_ignores_side_input": lowest_watermark(reader.watermarks().values()) == ENDED,
    }
    yield from _differing(expect, found)


def _behind_its_records(given: Fields, expect: Fields) -> Iterator[str]:
    """Each partition is a log of its own: how fast it is read changes nothing about what precedes what."""
    logs: dict[str, list[Message]] = {f"p{index}": [] for index in range(given["partitions"])}
    for where, *what in given["producer_writes"]:
        if where == "wm":
            for log in logs.values():
                log.append(message_of("int", "a", 1, what[0]))
        else:
            logs[where].append(UserRecord(str(what[1]).encode()))
    late = sum(
        isinstance(message, UserRecord) and watermark is not None and int(message.value or b"0") < watermark
        for index, log in enumerate(logs.values())
        for message, watermark in watermarks_beside(log, Partition("int", index))
    )
    yield from _differing(expect, {"late_records": late})


def _joined(given: Fields, expect: Fields) -> Iterator[str]:
    reader = ControlReader.of([Partition("x", 0), Partition("y", 0)], 0)
    watermarks: list[int | None] = []
    for event in given["interleaving"]:
        reader.accept(Partition(event[0], 0), message_of(event[0], "a", 1, int(event[1:])), 0)
        reader.advance(0)
        watermarks.append(lowest_watermark(reader.watermarks().values()))
    emitted = [
        at for before, at in zip([None, *watermarks], watermarks, strict=False) if at not in {None, before}
    ]
    yield from _differing(expect, {"operator_watermarks": watermarks, "emitted": emitted})


def _owning_two(given: Fields, expect: Fields) -> Iterator[str]:
    ((_, own),) = given["downstream_tasks"].items()
    partitions = [Partition.parse(text) for text in own]
    reader, tasks = ControlReader.of(partitions, 0), given["upstream_tasks"]
    for timestamp in (5, ENDED):
        for task in tasks:
            for place in partitions:
                reader.accept(place, message_of("int", task, len(tasks), timestamp), 0)
        reader.advance(0)
        if reader.watermarks() != {"int": timestamp}:
            yield f"the watermark is {reader.watermarks()}, not {timestamp}"
    ended = all_ended(reader.streams.values())
    yield from _differing(expect, {"stream_eos": ended, "job_terminates": ended})


def _ends_twice(events: list[Any], expect: Fields) -> Iterator[str]:
    """An upstream task that crashes writes its end again: alone, and beside one that has not ended."""
    place, ends = Partition("int", 0), events.count("eos(a)")
    told = {}
    counted_once = True
    for upstream in (1, 2):
        reader = ControlReader.of([place], 0)
        told[upstream] = 0
        for _ in range(ends):
            reader.accept(place, message_of("int", "a", upstream), 0)
            told[upstream] += len(ends_among(reader.advance(0)))
        progress = reader.upstream(place)
        counted_once &= progress is not None and len(tasks_ended(progress)) == 1
    if told[2]:
        yield f"of two upstream tasks one ended {ends} times, and the end was told"
    found = {"eos_counted_once": counted_once, "downstream_eos_emitted": told[1]}
    yield from _differing(expect, found)


def _moved(events: list[Any], expect: Fields) -> Iterator[str]:
    """The task goes to another processor between the ends of its two upstream tasks."""
    place, callbacks = Partition("int", 0), 0
    reader = ControlReader.of([place], 0)
    for event in events:
        if (end := re.fullmatch(r"eos\((\w+)\)", event)) is not None:
            reader.accept(place, message_of("int", end[1], 2), 0)
            callbacks += len(ends_among(reader.advance(0)))
        elif "moves to" in event:
            reader = through_bookkeeping(reader)
        else:
            yield f"nothing is known of {event}"
    found = {"stream_eos": all_ended(reader.streams.values()), "callbacks": callbacks}
    yield from _differing(expect, found)


_PIPELINES = {
    "records": _bounded,
    "source_tasks": _shuffled_twice,
    "side_inputs": _beside_a_side_input,
    "producer_writes": _behind_its_records,
    "interleaving": _joined,
    "downstream_tasks": _owning_two,
}
"""By a field of the input that no other has."""


def _piped(vector: Fields) -> Iterator[str]:
    given, expect = vector["input"], vector["expect"]
    for name, judged in _PIPELINES.items():
        if name in given:
            yield from judged(given, expect)
            return
    events = given["events"]
    if "crash" in events:
        yield from _ends_twice(events, expect)
        return
    if any("moves to" in event for event in events if isinstance(event, str)):
        yield from _moved(events, expect)
        return
    yield from _watermarks_of(given, expect)


def _watermarks_of(given: Fields, expect: Fields) -> Iterator[str]:
    pipeline = Pipeline(given["source_partitions"], given["intermediate_partitions"])
    before_the_end: Watermarks | None = None
    for now, (source, kind, *rest) in enumerate(given["events"]):
        if kind not in {"data", "wm", "eos"}:
            yield f"nothing is known of {kind}"
        if kind == "eos" and before_the_end is None:
            before_the_end = pipeline.watermarks()
        if kind in {"wm", "eos"}:
            pipeline.step(int(re.sub(r"\D", "", source)), rest[0] if kind == "wm" else ENDED, now)
    after, before = pipeline.watermarks(), before_the_end or pipeline.watermarks()
    for task in expect:
        if task == "job_terminates":
            terminates = all(all_ended(one.streams.values()) for one in pipeline.tasks.values())
            if expect[task] != terminates:
                yield f"the job terminates: {terminates}"
            continue
        for operator, sides in expect[task].items():
            for side, expected in sides.items():
                number = _number(expected)
                found = (after if number == ENDED else before)[task][operator][side]
                if found != number:
                    yield f"{task}: {side} of {operator} is {found}, not {expected}"
