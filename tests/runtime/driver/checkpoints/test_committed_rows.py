"""A table read from its changelog is what its checkpoint says, against a dictionary."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from streamapp.spec.value_types.column_list import parse_columns
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_codec import encode_layout
from streamapp_runtime.checkpoint import Checkpoint
from streamapp_runtime.checkpoint_entries import LAYOUT
from streamapp_runtime.driver.checkpoints.committed_rows import committed_rows
from streamapp_runtime.formats.arrow_types import arrow_schema
from streamapp_runtime.lanes.tables_file import KnownTable
from streamapp_runtime.rows.row_encoder import encode
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.stream_system import RECORDS, StreamOptions
from streamapp_runtime.systems.topic_partition import TopicPartition

TABLE = KnownTable("users", "memory", tuple(parse_columns("n INT")), "shop.users.changelog")
TASKS = ("TopicPartition 0", "TopicPartition 1")
COMPACTED = StreamOptions(compacted=True)

changes = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from([b"a", b"b", b"c"]), st.none() | st.integers(0, 9))
)


def write(system: EmbeddedSystem, written: list[tuple[int, bytes, int | None]], ahead: int) -> None:
    """Changes, and checkpoints that name all of them but for so many at the end of each task's."""
    system.create("shop.checkpoint", 1, COMPACTED)
    system.create("shop.users.changelog", 2, COMPACTED)
    transaction = system.begin("shop.checkpoint", 1)
    layout = Layout("run", "partition", changelog={task: index for index, task in enumerate(TASKS)})
    transaction.put("shop.checkpoint", LAYOUT.key, encode_layout(layout).encode())
    for index, task in enumerate(TASKS):
        mine = [(key, number) for owner, key, number in written if owner == index]
        rows = pa.record_batch(
            [pa.array([n for _, n in mine], pa.int32())], schema=arrow_schema(TABLE.columns)
        )
        gone = [
            None if n is None else value
            for (_, n), value in zip(mine, encode(rows, rows.schema).to_pylist(), strict=True)
        ]
        columns = [pa.array([key for key, _ in mine], pa.binary()), pa.array(gone, pa.binary())]
        times = pa.nulls(len(mine), pa.int64())
        transaction.append(
            TopicPartition("shop.users.changelog", index), pa.record_batch([*columns, times], schema=RECORDS)
        )
        end = max(0, len(mine) - ahead)
        checkpoint = Checkpoint("run", changelogs={"users": end} if end else {})
        transaction.put("shop.checkpoint", task.encode(), checkpoint.encode())
    transaction.commit()


@given(changes, st.integers(0, 2), st.none() | st.just(b"a"))
def test_the_rows_are_those_of_the_checkpoints_and_of_nothing_after_them(
    written: list[tuple[int, bytes, int | None]], ahead: int, key: bytes | None
) -> None:
    expected: dict[str, dict[bytes, int]] = {}
    for index, task in enumerate(TASKS):
        mine = [(k, number) for owner, k, number in written if owner == index]
        kept = {k: n for k, n in dict(mine[: max(0, len(mine) - ahead)]).items() if n is not None}
        found = {k: n for k, n in sorted(kept.items()) if key in {None, k}}
        if found:
            expected[task] = found
    with TemporaryDirectory() as folder:
        system = EmbeddedSystem(Path(folder))
        try:
            write(system, written, ahead)
            parts = {
                part.task: dict(zip(part.keys.to_pylist(), part.rows.column("n").to_pylist(), strict=True))
                for part in committed_rows(system, "shop", TABLE, key)
            }
        finally:
            system.close()
    assert parts == expected
    assert [list(part) for part in parts.values()] == [list(part) for part in expected.values()]
