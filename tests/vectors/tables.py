"""Tables and stores of the engine in the few words that vectors have for them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from streamapp_runtime.operators.operation_table import make_executor
from streamapp_runtime.operators.tables.table_operations import FillTable, LookUp
from streamapp_runtime.stores.store import StoreIdentity, StoreKind, StoreMark
from streamapp_runtime.stores.store_opening import open_store
from tests.harness.engine.plain_rows import Row, slice_of
from tests.harness.engine.task_lane import Lane, lane

SCHEMA = pa.schema([("v", pa.string())])
NONE = pa.schema([])
IDENTITY = StoreIdentity("run", "task", "t", "meaning")


@dataclass
class SideInputTable:
    """A table that side inputs fill, as operations see it."""

    running: Lane

    def fill(self, entries: Sequence[tuple[str | None, str | None]]) -> None:
        rows = [Row(_bytes(key), None if value is None else (value,)) for key, value in entries]
        filling = make_executor(FillTable("t", "s", True, (0,)), [SCHEMA], NONE)
        self.running.batch(filling, [(slice_of(rows, SCHEMA),)])

    def look_up(self, keys: Sequence[str]) -> list[Any]:
        looking = make_executor(LookUp("t", True, None, (0,)), [NONE], SCHEMA)
        found = self.running.batch(looking, [(slice_of([Row(_bytes(key), ()) for key in keys], NONE),)])
        return [row.columns[0] if row.columns else None for row in found]

    def content(self) -> dict[str, str]:
        keys = [key.decode() for entries in self.running.contents().values() for key in entries]
        return dict(zip(keys, self.look_up(keys), strict=True))


@contextmanager
def filled() -> Iterator[SideInputTable]:
    with lane(t=SCHEMA) as running:
        yield SideInputTable(running)


@dataclass
class Stored:
    """A store in a folder, closed whenever it is not just looked at."""

    kind: StoreKind
    folder: Path

    def write(self, entries: Mapping[str, str], positions: Mapping[str, int], written_ms: int) -> None:
        store = open_store(self.kind, self.folder, IDENTITY, owner="tests")
        keys, values = ([text.encode() for text in texts] for texts in zip(*entries.items(), strict=True))
        store.put(pa.array(keys, pa.binary()), pa.array(values, pa.binary()))
        store.apply(StoreMark("run", "task", "t", "meaning", "", 0, written_ms, positions))
        store.close()

    def read(self) -> tuple[StoreMark | None, dict[str, str]]:
        store = open_store(self.kind, self.folder, IDENTITY, owner="tests")
        found = store.mark, {key.decode(): value.decode() for key, value in store.scan()}
        store.close()
        return found


@contextmanager
def stored(kind: StoreKind) -> Iterator[Stored]:
    with TemporaryDirectory() as folder:
        yield Stored(kind, Path(folder))


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()
