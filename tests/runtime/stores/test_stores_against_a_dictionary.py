"""Any order of calls leaves a store as it leaves a dictionary."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from streamapp_runtime.stores.store import Store, StoreKind, StoreLimits, StoreMark
from tests.harness.engine.opened_stores import KINDS, SMALL, binary, held, mark, opened
from tests.harness.machine.random_cases import share

KEYS = st.one_of(
    st.binary(max_size=2),
    st.integers(0, 150).map(lambda n: b"%03d" % n),
    st.sampled_from([b"p" * 511, b"p" * 512, b"p" * 513, b"p" * 600, b"p" * 509 + b"q" * 3]),
)
VALUES = st.none() | st.binary(max_size=4) | st.just(b"v" * 3_000)
NUMBERED = [b"%03d" % number for number in range(151)]
MANY_WRITES = st.binary(max_size=4).map(lambda value: [(key, value) for key in NUMBERED])
WRITES = st.lists(st.tuples(KEYS, VALUES), max_size=40) | MANY_WRITES
FEW_KEYS = st.lists(st.none() | KEYS, max_size=30)
ASKED = FEW_KEYS | FEW_KEYS.map(lambda keys: [*keys, *NUMBERED])


def written(before: dict[bytes, bytes], writes: list[tuple[bytes, bytes | None]]) -> dict[bytes, bytes]:
    after: dict[bytes, bytes | None] = {**before, **dict(writes)}
    return {key: value for key, value in after.items() if value is not None}


class StoreMachine(RuleBasedStateMachine):
    kind: StoreKind
    limits: StoreLimits

    @initialize()
    def open(self) -> None:
        self.root = TemporaryDirectory()
        self.store: Store = opened(self.kind, Path(self.root.name) / "users", self.limits)
        self.applied: dict[bytes, bytes] = {}
        self.seen: dict[bytes, bytes] = {}
        self.mark: StoreMark | None = None
        self.pending = False
        self.steps = 0

    @rule(writes=WRITES)
    def put(self, writes: list[tuple[bytes, bytes | None]]) -> None:
        self.store.put(binary(*(key for key, _ in writes)), binary(*(value for _, value in writes)))
        self.seen = written(self.seen, writes)
        self.pending = True

    @rule()
    def apply(self) -> None:
        self.steps += 1
        self.mark = mark(self.steps)
        self.store.apply(self.mark)
        self.applied, self.pending = self.seen, False

    @rule()
    def drop(self) -> None:
        self.store.drop()
        self.seen, self.pending = self.applied, False

    @rule(writes=WRITES)
    def load(self, writes: list[tuple[bytes, bytes | None]]) -> None:
        if self.pending:
            self.drop()
        self.store.load(binary(*(key for key, _ in writes)), binary(*(value for _, value in writes)))
        self.seen = self.applied = written(self.applied, writes)
        self.apply()

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = opened(self.kind, Path(self.root.name) / "users", self.limits)
        if self.kind is StoreKind.MEMORY:
            self.applied, self.mark = {}, None
        self.seen, self.pending = self.applied, False

    @rule(keys=ASKED)
    def get(self, keys: list[bytes | None]) -> None:
        expected = [None if key is None else self.seen.get(key) for key in keys]
        assert self.store.get(binary(*keys)).to_pylist() == expected

    @rule(start=KEYS, end=st.none() | KEYS)
    def scan(self, start: bytes, end: bytes | None) -> None:
        within = (key for key in sorted(self.seen) if start <= key and (end is None or key < end))
        assert list(self.store.scan(start, end)) == [(key, self.seen[key]) for key in within]

    @invariant()
    def agrees(self) -> None:
        if hasattr(self, "store"):
            assert held(self.store) == self.seen
            assert self.store.mark == self.mark

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            self.root.cleanup()


@pytest.mark.parametrize("cached_bytes", [SMALL.cached_bytes, 10 * SMALL.cached_bytes])
@pytest.mark.parametrize("kind", KINDS)
def test_any_order_of_calls_leaves_a_store_as_it_leaves_a_dictionary(
    kind: StoreKind, cached_bytes: int
) -> None:
    limits = replace(SMALL, cached_bytes=cached_bytes)
    machine = type("Machine", (StoreMachine,), {"kind": kind, "limits": limits})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=share(0.1 if kind is StoreKind.ROCKSDB else 0.4),  # it takes its time to open
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
