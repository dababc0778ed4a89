"""Records whose key is not that of their stream, or that lie where their key does not belong."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.value_types.column_list import Column, parse_columns
from streamapp.tasks.key_placement import NO_TASK, KeyPlacement, KeyReliance
from streamapp_runtime.formats.stream_format import open_format
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.lanes.protocol.batch_orders import ReadRange
from streamapp_runtime.lanes.records.key_check import OWN_KEY, TOMBSTONE, KeyCheck, key_check, key_texts
from streamapp_runtime.lanes.records.record_decoding import DecodedRecords, RecordDecoder, RequestedRange
from streamapp_runtime.lanes.records.record_reader import read_records
from streamapp_runtime.operators.stateless.stream_operations import Read, StreamRole
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.one_system import OneSystem

COLUMNS = tuple(parse_columns("user STRING, n INT"))
PLACES = KeyPlacement(4, tasks=(0, 1, 2, 3))
USERS = [f"u{number}" for number in range(40)]
HOMES = partition_of(pa.array(USERS), 4).tolist()
HERE, ELSEWHERE = USERS[HOMES.index(1)], USERS[HOMES.index(2)]
Given = tuple[str | None, str | None]


def found_in(
    folder: Path,
    records: Sequence[Given],
    reliance: KeyReliance = KeyReliance.PLACE,
    placement: KeyPlacement = PLACES,
    partition: int = 1,
) -> DecodedRecords:
    """Records by their own key and their value, read from one partition."""
    system = EmbeddedSystem(folder)
    try:
        system.create("events", 8)
        keys = pa.array([None if key is None else key.encode() for key, _ in records], pa.binary())
        values = pa.array([None if value is None else value.encode() for _, value in records], pa.binary())
        transaction = system.begin("tests", 0)
        batch = pa.record_batch([keys, values, pa.array(range(len(records)), pa.int64())], schema=RECORDS)
        transaction.append(TopicPartition("events", partition), batch)
        transaction.commit()
        read = Read(
            "events", "main", "events", StreamRole.INPUT, "json", COLUMNS, key="user", reliance=reliance
        )
        asked = ReadRange("events", partition, 0, len(records))
        keys_of = key_check(read, {"events": placement})
        decoder = RecordDecoder(read, open_format("json", COLUMNS), keys=keys_of)
        (decoded,) = read_records(decoder, [RequestedRange(asked, 0, 0)], OneSystem(system))
        (records_of_range,) = decoded.parts
        return records_of_range
    finally:
        system.close()


def of(user: str | None, n: int = 1) -> str:
    return f'{{"n": {n}}}' if user is None else f'{{"user": "{user}", "n": {n}}}'


def offsets(found: DecodedRecords) -> list[int]:
    assert found.rows is not None
    offsets: list[int] = found.rows.offset.to_pylist()
    return offsets


def test_a_record_in_another_partition_than_its_keys_is_bad_and_says_where_it_belongs(tmp_path: Path) -> None:
    found = found_in(
        tmp_path, [(HERE, of(HERE)), (ELSEWHERE, of(ELSEWHERE)), (HERE, None), (ELSEWHERE, None)]
    )
    assert offsets(found) == [0, 2]
    assert [each.place for each in found.bad] == ["events#1 at offset 1", "events#1 at offset 3"]
    assert f'its key "{ELSEWHERE}" belongs in partition 2 of 4' in found.bad[0].reason
    assert "put a partitionBy before" in found.bad[0].reason
    assert "keys: unchecked" in found.bad[0].reason


def test_a_record_without_a_key_lies_where_that_of_its_column_belongs_or_is_bad(tmp_path: Path) -> None:
    found = found_in(tmp_path, [(None, of(HERE)), (None, of(ELSEWHERE)), (None, of(None)), (None, None)])
    assert offsets(found) == [0]
    assert found.rows is not None
    assert found.rows.key.to_pylist() == [HERE.encode()]
    reasons = [each.reason for each in found.bad]
    assert f'"{ELSEWHERE}" belongs in partition 2' in reasons[0]
    assert all("its column user is null, so that it belongs to no task" in reason for reason in reasons[1:])


@pytest.mark.parametrize("reliance", [KeyReliance.VALUE, KeyReliance.PLACE])
def test_a_record_whose_own_key_is_not_its_column_is_bad(tmp_path: Path, reliance: KeyReliance) -> None:
    records = [
        (HERE, of(ELSEWHERE)),
        (HERE, of(HERE)),
        (f'"{HERE}"', of(HERE)),
        (HERE, of(None)),
        (HERE, None),
    ]
    found = found_in(tmp_path, records, reliance)
    assert offsets(found) == [1, 4]
    assert f'its key is "{HERE}", and its column user is "{ELSEWHERE}"' in found.bad[0].reason
    assert f'its key is ""{HERE}"", and its column user is "{HERE}"' in found.bad[1].reason
    assert f'its key is "{HERE}", and its column user is null' in found.bad[2].reason


def test_where_only_the_value_of_a_key_matters_it_may_lie_anywhere(tmp_path: Path) -> None:
    found = found_in(tmp_path, [(ELSEWHERE, of(ELSEWHERE)), (None, of(None))], KeyReliance.VALUE)
    assert offsets(found) == [0]


def test_where_nothing_relies_on_keys_all_records_are_rows(tmp_path: Path) -> None:
    found = found_in(tmp_path, [(ELSEWHERE, of(HERE)), (None, of(None))], KeyReliance.NONE)
    assert (offsets(found), found.bad) == ([0, 1], ())


def test_what_cannot_be_decoded_is_bad_for_that_reason_alone_and_all_stand_in_order(tmp_path: Path) -> None:
    found = found_in(
        tmp_path, [(ELSEWHERE, of(ELSEWHERE)), (ELSEWHERE, "broken"), (None, of(None)), (HERE, of(HERE))]
    )
    assert offsets(found) == [3]
    assert [each.offset for each in found.bad] == [0, 1, 2]
    assert "no JSON object" in found.bad[1].reason


def test_a_partition_of_a_growth_takes_the_keys_of_the_one_that_it_came_from(tmp_path: Path) -> None:
    found = found_in(tmp_path, [(HERE, of(HERE)), (ELSEWHERE, of(ELSEWHERE))], partition=5)
    assert offsets(found) == [0]
    (bad,) = found.bad
    assert (
        f'"{ELSEWHERE}" belongs in partition 2 of 4 when state began, and this partition goes with 1'
        in bad.reason
    )


def test_partitions_of_one_task_take_each_others_keys(tmp_path: Path) -> None:
    shared = KeyPlacement(4, tasks=(0, 1, 1, 0))
    other = USERS[HOMES.index(3)]
    found = found_in(tmp_path, [(ELSEWHERE, of(ELSEWHERE)), (other, of(other))], placement=shared)
    assert offsets(found) == [0]


def test_a_partition_that_every_task_reads_takes_all_keys(tmp_path: Path) -> None:
    everywhere = KeyPlacement(4, tasks=(0, NO_TASK, 1, 2))
    found = found_in(tmp_path, [(ELSEWHERE, of(ELSEWHERE))], placement=everywhere)
    assert (offsets(found), found.bad) == ([0], ())


@pytest.mark.parametrize(
    ("kind", "value", "own"),
    [
        ("BIGINT", 17, b"17"),
        ("STRING", "é", "é".encode()),
        ("BINARY", b"\xff", b"\xff"),
        ("BOOLEAN", True, b"true"),
        ("DATE", date(2026, 1, 31), b"2026-01-31"),
    ],
)
def test_a_value_of_one_spelling_has_that_as_its_key(kind: str, value: object, own: bytes) -> None:
    schema = open_format("columns", (Column("k", kind),)).schema
    texts = key_texts(pa.array([value, None], schema.field(0).type))
    assert texts is not None
    assert texts.to_pylist() == [own, None]


@pytest.mark.parametrize("kind", ["DOUBLE", "DECIMAL(9, 2)", "TIMESTAMP"])
def test_values_of_several_spellings_are_not_compared(kind: str) -> None:
    schema = open_format("columns", (Column("k", kind),)).schema
    assert key_texts(pa.array([None], schema.field(0).type)) is None


@given(
    rows=st.lists(
        st.tuples(st.none() | st.text(max_size=3), st.none() | st.text(max_size=3), st.booleans()),
        max_size=30,
    ),
    count=st.integers(2, 5),
    data=st.data(),
)
def test_a_record_is_bad_exactly_when_one_of_the_three_rules_says_so(
    rows: list[tuple[str | None, str | None, bool]], count: int, data: st.DataObject
) -> None:
    """Beside the rules for one record, in Python."""
    partition = data.draw(st.integers(0, count - 1))
    placement = KeyPlacement(count, tasks=tuple(range(count)))
    own = pa.array([None if key is None else key.encode() for key, _, _ in rows], pa.binary())
    deleted = pa.array([tombstone for *_, tombstone in rows], pa.bool_())
    column = pa.array([None if tombstone else user for _, user, tombstone in rows], pa.string())
    records = pa.record_batch([own, deleted], names=[OWN_KEY, TOMBSTONE])
    keys = pc.coalesce(own, key_texts(column))
    partitions = np.full(len(rows), partition)
    faults = KeyCheck("user", placement).faults(
        records, keys, pa.record_batch([column], names=["user"]), partitions
    )

    def is_bad(key: str | None, user: str | None, tombstone: bool) -> bool:
        user = None if tombstone else user
        if key is None and user is None:
            return True
        if key is not None and not tombstone and key != user:
            return True
        text = (key if key is not None else user or "").encode()
        return int(partition_of(pa.array([text]), count)[0]) != partition

    assert sorted(faults) == [place for place, row in enumerate(rows) if is_bad(*row)]
