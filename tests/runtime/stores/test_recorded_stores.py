"""A snapshot of a store stays as it was, whatever is written to the store meanwhile."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from streamapp_runtime.stores import recorded_store
from streamapp_runtime.stores.recorded_store import (
    RecordedStore,
    ReplacedBytes,
    SnapshotExpiredError,
    StoreSnapshot,
)
from streamapp_runtime.stores.store import PendingWritesError, StoreKind
from streamapp_runtime.stores.store_snapshot import open_snapshot
from tests.harness.engine.opened_stores import KINDS, ON_DISK, binary, mark, opened, put

KEYS = st.integers(0, 60).map(lambda n: b"%02d" % n) | st.sampled_from([b"", b"p" * 600, b"p" * 601])
WRITES = st.lists(st.tuples(KEYS, st.none() | st.binary(max_size=4)), max_size=30)
Entries = dict[bytes, bytes]


def entries(snapshot: StoreSnapshot) -> Entries:
    return dict(snapshot.entries(b"", None))


class SnapshotMachine(RuleBasedStateMachine):
    kind: StoreKind

    @initialize()
    def open(self) -> None:
        self.root = TemporaryDirectory()
        self.memory = ReplacedBytes()
        self.store = RecordedStore(opened(self.kind, Path(self.root.name) / "users"))
        self.applied: Entries = {}
        self.seen: Entries = {}
        self.pending = False
        self.snapshots: list[tuple[StoreSnapshot, Entries]] = []
        self.steps = 0

    @rule(writes=WRITES)
    def put(self, writes: list[tuple[bytes, bytes | None]]) -> None:
        self.store.put(binary(*(key for key, _ in writes)), binary(*(value for _, value in writes)))
        after: dict[bytes, bytes | None] = {**self.seen, **dict(writes)}
        self.seen = {key: value for key, value in after.items() if value is not None}
        self.pending = True

    @rule()
    def apply(self) -> None:
        self.steps += 1
        self.store.apply(mark(self.steps))
        self.applied, self.pending = self.seen, False

    @rule()
    def drop(self) -> None:
        self.store.drop()
        self.seen, self.pending = self.applied, False

    @precondition(lambda self: not self.pending)
    @rule()
    def begin(self) -> None:
        self.snapshots.append((self.store.snapshot(self.memory), self.applied))

    @precondition(lambda self: not self.pending)
    @rule(start=KEYS, end=st.none() | KEYS)
    def read(self, start: bytes, end: bytes | None) -> None:
        for snapshot, held in self.snapshots:
            within = [key for key in sorted(held) if start <= key and (end is None or key < end)]
            assert list(snapshot.entries(start, end)) == [(key, held[key]) for key in within]

    @precondition(lambda self: self.snapshots)
    @rule(data=st.data())
    def release(self, data: st.DataObject) -> None:
        snapshot, _ = self.snapshots.pop(data.draw(st.integers(0, len(self.snapshots) - 1)))
        self.store.release(snapshot)
        with pytest.raises(SnapshotExpiredError):
            entries(snapshot)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            for snapshot, _ in self.snapshots:
                self.store.release(snapshot)
            assert self.memory.size == 0
            self.store.close()
            self.root.cleanup()


@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_is_what_a_dictionary_was_at_its_moment(kind: StoreKind) -> None:
    machine = type("Machine", (SnapshotMachine,), {"kind": kind})
    checks = settings(
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    run_state_machine_as_test(machine, settings=checks)


@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_is_gone_with_its_store_and_where_the_store_is_restored(
    kind: StoreKind, tmp_path: Path
) -> None:
    memory = ReplacedBytes()
    store = RecordedStore(opened(kind, tmp_path / "users"))
    restored = store.snapshot(memory)
    store.load(binary(b"a"), binary(b"1"))
    closed = store.snapshot(memory)
    store.close()
    for snapshot, why in ((restored, "restored"), (closed, "moved")):
        with pytest.raises(SnapshotExpiredError, match=why):
            entries(snapshot)
        store.release(snapshot)
    assert memory.size == 0


def test_a_snapshot_during_which_very_much_is_written_is_gone_and_the_store_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorded_store, "MOST_REPLACED_BYTES", 100)
    memory = ReplacedBytes()
    store = RecordedStore(opened(StoreKind.ROCKSDB, tmp_path / "users"))
    put(store, {b"%02d" % n: b"x" * 8 for n in range(20)})
    store.apply(mark(1))
    snapshot = store.snapshot(memory)
    for n in range(10):
        put(store, {b"%02d" % n: b"later"})
        store.apply(mark(2 + n))
    assert 0 < memory.size <= 100
    assert len(entries(snapshot)) == 20
    put(store, {b"10": b"later"})
    store.apply(mark(12))
    with pytest.raises(SnapshotExpiredError, match="written over"):
        entries(snapshot)
    assert (memory.size, len(dict(store.scan()))) == (0, 20)
    store.close()


def test_nothing_is_read_of_a_snapshot_while_writes_are_pending(tmp_path: Path) -> None:
    store = RecordedStore(opened(StoreKind.LMDB, tmp_path / "users"))
    snapshot = store.snapshot(ReplacedBytes())
    put(store, {b"a": b"1"})
    with pytest.raises(PendingWritesError):
        entries(snapshot)
    store.close()


@pytest.mark.parametrize("kind", ON_DISK)
def test_a_version_that_others_follow_is_read_until_its_snapshots_are_released(
    kind: StoreKind, tmp_path: Path
) -> None:
    source = opened(kind, tmp_path / "users")
    put(source, {b"%05d" % n: b"v" * 100 for n in range(5_000)})
    source.apply(mark(1))
    RecordedStore(source).copy_to(tmp_path / "copy")
    source.close()
    version = RecordedStore(open_snapshot(kind, tmp_path / "copy"))
    snapshots = [version.snapshot(ReplacedBytes()) for _ in range(2)]
    version.retire()
    for file in (tmp_path / "copy").iterdir():
        file.unlink()
    for snapshot in snapshots:
        assert len(entries(snapshot)) == 5_000
        version.release(snapshot)
        with pytest.raises(SnapshotExpiredError):
            entries(snapshot)
