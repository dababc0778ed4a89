"""Ranges of many partitions that are decoded together give what each gives alone."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.control.control_message import MessageKind
from streamapp.spec.value_types.column_list import parse_columns
from streamapp.tasks.key_placement import KeyPlacement
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.lanes.batches.lane_input import joint_requests
from streamapp_runtime.lanes.protocol.batch_orders import KnownRejection, ReadRange
from streamapp_runtime.lanes.records import record_reader
from streamapp_runtime.lanes.records.key_check import KeyCheck
from streamapp_runtime.lanes.records.record_decoding import DecodedRecords, RecordDecoder, RequestedRange
from streamapp_runtime.lanes.records.record_reader import read_records
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole
from streamapp_runtime.rows.task_slices import concat_slices
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.one_system import OneSystem

PARTITIONS = 4
NOW = 1_000_000
COLUMNS = tuple(parse_columns("user STRING, at TIMESTAMP"))
DECODER = RecordDecoder(
    Read(
        *("events", "main", "events", StreamRole.INPUT, "json", COLUMNS),
        key="user",
        event_time="at",
        max_ahead="1h",
    ),
    open_format("json", COLUMNS),
    NOW,
    KeyCheck("user", KeyPlacement(PARTITIONS, tasks=tuple(range(PARTITIONS)))),
)
USER = st.sampled_from(["a", "b", "c", "d", "e"])
TIME = st.sampled_from(["1970-01-01T00:10:00Z", "1970-01-01T00:16:40Z", "2996-01-01T00:00:00Z"])
VALUE = st.one_of(
    st.builds(lambda user, at: f'{{"user": "{user}", "at": "{at}"}}'.encode(), USER, TIME),
    st.builds(lambda user: f'{{"user": "{user}"}}'.encode(), USER),
    st.sampled_from([b"broken", b"{}", None]),
)
Record = tuple[bytes | None, bytes | None]
RECORD = st.tuples(st.one_of(st.none(), USER.map(str.encode)), VALUE)


def written(system: EmbeddedSystem, partitions: Sequence[Sequence[Record]]) -> None:
    system.create("events", PARTITIONS)
    transaction = system.begin("tests", 0)
    for index, records in enumerate(partitions):
        if records:
            keys, values = zip(*records, strict=True)
            times = pa.array(range(len(records)), pa.int64())
            columns = [pa.array(keys, pa.binary()), pa.array(values, pa.binary()), times]
            transaction.append(TopicPartition("events", index), pa.record_batch(columns, schema=RECORDS))
    transaction.commit()


def requests_of(partitions: Sequence[Sequence[object]], known: set[tuple[int, int]]) -> list[RequestedRange]:
    return [
        RequestedRange(
            ReadRange("events", index, 0, len(records)),
            task=index + 10,
            number=index + 20,
            known={at: KnownRejection("events", index, at, "known") for each, at in known if each == index},
        )
        for index, records in enumerate(partitions)
    ]


def plain(parts: Sequence[DecodedRecords]) -> list[object]:
    """What came of each range, without what says how many were decoded at once."""
    rows: dict[int, list[object]] = {}
    for part in parts:
        if part.rows:
            arrays = (part.rows.task, part.rows.key, part.rows.time, part.rows.tombstone, part.rows.source)
            lists = [array.to_pylist() for array in (*arrays, part.rows.offset, *part.rows.columns)]
            rows.setdefault(part.request.number, []).extend(zip(*lists, strict=True))
    notes = [(part.request, part.size, part.bad, part.newest, part.control) for part in parts]
    return [*notes, *sorted(rows.items())]


@given(
    partitions=st.lists(st.lists(RECORD, max_size=6), min_size=PARTITIONS, max_size=PARTITIONS),
    known=st.sets(st.tuples(st.integers(0, PARTITIONS - 1), st.integers(0, 5)), max_size=4),
)
def test_ranges_that_are_decoded_together_give_what_each_gives_alone(
    tmp_path_factory: pytest.TempPathFactory,
    partitions: list[list[Record]],
    known: set[tuple[int, int]],
) -> None:
    system = EmbeddedSystem(tmp_path_factory.mktemp("log"))
    try:
        written(system, partitions)
        requests = requests_of(partitions, known)
        together = list(read_records(DECODER, requests, OneSystem(system)))
        alone = [one for request in requests for one in read_records(DECODER, [request], OneSystem(system))]
    finally:
        system.close()
    assert len(together) <= 1
    assert plain([part for one in together for part in one.parts]) == plain(
        [part for one in alone for part in one.parts]
    )
    for one in together:
        joined = concat_slices([part.rows for part in one.parts if part.rows])
        assert (one.rows if one.rows else None) == joined


@pytest.fixture
def system(tmp_path: Path) -> Iterator[EmbeddedSystem]:
    system = EmbeddedSystem(tmp_path)
    yield system
    system.close()


@pytest.mark.parametrize(("name", "bound"), [("JOINT_RECORDS", 7), ("JOINT_BYTES", 400)])
def test_no_more_is_decoded_at_once_than_a_bound(
    system: EmbeddedSystem, monkeypatch: pytest.MonkeyPatch, name: str, bound: int
) -> None:
    written(system, [[(b"a" * 30, None)] * 3] * PARTITIONS)
    monkeypatch.setattr(record_reader, name, bound)
    decoded = list(read_records(DECODER, requests_of([[1] * 3] * PARTITIONS, set()), OneSystem(system)))
    assert [len(one.parts) for one in decoded] == [2, 2]


def test_more_than_a_bound_of_one_range_is_decoded_as_it_was_read(
    system: EmbeddedSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(system, [[(b"a", None)] * 3] * PARTITIONS)
    monkeypatch.setattr(record_reader, "JOINT_RECORDS", 2)
    decoded = list(read_records(DECODER, requests_of([[1] * 3] * PARTITIONS, set()), OneSystem(system)))
    assert [len(one.parts) for one in decoded] == [1] * PARTITIONS


def test_ranges_of_tasks_that_have_failed_meanwhile_are_not_read(
    system: EmbeddedSystem, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(system, [[(b"a", None)] * 3] * PARTITIONS)
    monkeypatch.setattr(record_reader, "JOINT_RECORDS", 3)
    failed: set[int] = set()
    decoded = read_records(DECODER, requests_of([[1] * 3] * PARTITIONS, set()), OneSystem(system), failed)
    tasks = [next(decoded).parts[0].request.task]
    failed |= {12, 13}
    tasks += [part.request.task for one in decoded for part in one.parts]
    assert 13 not in tasks


def test_control_messages_go_to_the_range_that_they_were_read_in(system: EmbeddedSystem) -> None:
    user = bytes([MessageKind.USER]) + b'{"user": "a"}'
    unknown = bytes([200]) + b"?"
    written(system, [[(None, user)], [(None, unknown), (None, user)], [(None, user)], []])
    read = Read("events", "main", "events", StreamRole.INTERMEDIATE, "json", COLUMNS)
    decoder = RecordDecoder(read, open_format("json", COLUMNS))
    requests = requests_of([[1], [1, 1], [1], []], set())
    (decoded,) = read_records(decoder, requests, OneSystem(system))
    assert [len(part.bad) for part in decoded.parts] == [0, 1, 0]
    assert [len(part.rows or ()) for part in decoded.parts] == [1, 1, 1]
    assert decoded.parts[1].bad[0].place == "events#1 at offset 0"


def request(task: int, stream: str, partition: int = 0, *, only_rejects: bool = False) -> RequestedRange:
    return RequestedRange(ReadRange(stream, partition, 0, 1, only_rejects), task, 0)


def test_ranges_of_one_stream_are_joined_over_tasks() -> None:
    requests = [request(task, stream) for task in range(3) for stream in ("a", "b")]
    groups = [[(one.range.stream, one.task) for one in group] for group in joint_requests(requests)]
    assert groups == [[("a", 0), ("a", 1), ("a", 2)], [("b", 0), ("b", 1), ("b", 2)]]


@given(
    st.lists(
        st.builds(
            lambda task, stream, only: request(task, stream, only_rejects=only),
            st.integers(0, 3),
            st.sampled_from("abc"),
            st.booleans(),
        ),
        max_size=20,
    )
)
def test_the_ranges_of_each_task_stay_in_their_order(requests: list[RequestedRange]) -> None:
    groups = joint_requests(requests)
    assert all(len({(one.range.stream, one.range.only_rejects) for one in group}) == 1 for group in groups)
    in_groups = [one for group in groups for one in group]
    for task in range(4):
        assert [id(one) for one in in_groups if one.task == task] == [
            id(one) for one in requests if one.task == task
        ]
