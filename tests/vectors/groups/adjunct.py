"""Judges adjunct.json: the rules themselves, and where a vector is about stores, real ones of the engine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lmdb
import pyarrow as pa

from streamapp.graph.graph_builder import build_graph
from streamapp.plan.partition_plan import Role
from streamapp.plan.planner import plan
from streamapp.side_inputs.bootstrap_gate import BootstrapGate
from streamapp.side_inputs.broadcast_writers import broadcast_writers
from streamapp.side_inputs.store_recovery import FillingPartition, StoreAction, recover_store, resume_position
from streamapp.side_inputs.store_validity import StoreOnDisk, is_stale
from streamapp.spec.parser import ParseResult, parse_data
from streamapp.tasks.partition import OffsetSpan, Partition
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.stores.store import StoreKind
from streamapp_runtime.systems.stream_system import UnknownStreamError
from tests.harness.core.snapshot_scope import snapshot_scope
from tests.harness.engine.filled_table import FilledTable
from tests.harness.engine.one_system import OneSystem
from tests.harness.engine.versioned_table import Versioned
from tests.vectors.fields import Fields
from tests.vectors.tables import filled, stored

RECIPES = ("tests/streamapp/side_inputs",)
DAY = 86_400_000
NOW = 10 * DAY
PLACE = Partition("s", 0)
_KEPT = frozenset({"keep", "reuse", "open", "use", "continue", "none"})
"""Words of vectors for a store that is gone on with."""


def run(vector: Fields) -> list[str]:
    return list(_JUDGES[vector["kind"]](vector["input"], vector["expect"]))


def _recovery(given: Fields, expect: Fields) -> Iterator[str]:
    """A valid store contains what was read; where the vector says nothing else, one record came since."""
    if "flushed_to" in given:
        yield from _half_written(given, expect)
        return
    last, oldest = given["last_offset_next"], given["oldest_offset"]
    end = given.get("end_offset", given.get("newest_offset", last) + 1)
    source = FillingPartition(given["bootstrap"], OffsetSpan(oldest, max(end, last)), last)
    written = {"valid": NOW, "invalid": NOW - 2 * DAY}
    state = given.get("store", "none")
    if state not in {*written, "none"}:
        yield f"no store is {state}"
    persistent = given["persistent"] and state in written
    found = StoreOnDisk(written[state], {PLACE: last}) if persistent else None
    decided = recover_store(found, {PLACE: source}, now_ms=NOW, retention_ms=DAY)
    gate = BootstrapGate({PLACE: source.held_offsets.end} if source.bootstrap else {})
    action = expect.get("store_action", decided.action.value)
    if action != decided.action and not (decided.action is StoreAction.KEEP and action in _KEPT):
        yield f"the store is dealt with by {decided.action}, not {action}"
    yield from _differs("start_offset", expect, decided.positions[PLACE])
    yield from _differs("main_input_waits", expect, gate.waits(decided.positions))


def _half_written(given: Fields, expect: Fields) -> Iterator[str]:
    """Rows and position are one commit, so what was not committed with its position is not there either."""
    ends = given["flushed_to"] + 1
    with _table() as table, _table() as undisturbed:
        for filling in (table, undisturbed):
            for number in range(ends):
                filling.write(0, **{f"k{number % 7}": str(number) if number % 5 else None})
        undisturbed.batch()
        table.batch(upto={0: given["file"] + 1})
        table.batch(upto={0: ends}, commits=False)
        table.dies()
        yield from _differs("start", expect, table.opened()[0])
        table.batch()
        if table.content() != undisturbed.content():
            yield f"{table.content()}, and without a crash {undisturbed.content()}"


def _validity(given: Fields, expect: Fields) -> Iterator[str]:
    if given.get("offset_file") == "bad checksum":
        yield from _damaged(expect)
        return
    valid = []
    for case in given["cases"]:
        absences = [case[name] for name in ("offset_file", "directory") if name in case]
        if set(absences) - {"missing"}:
            yield f"{absences} of a store mean nothing here"
        valid.append(
            "age_ms" in case and not absences and not is_stale(case["age_ms"], given["retention_ms"])
        )
    yield from _differs("valid", expect, valid)


def _damaged(expect: Fields) -> Iterator[str]:
    """What a store says of itself cannot be read: it is emptied and filled from the beginning."""
    for spoil in (_spoil_mark, _spoil_form):
        with _table() as table:
            table.write(a="1", b="2")
            table.batch()
            table.side_inputs.release()
            spoil(table.folder / "state")
            table.new_worker()
            begun = table.opened()[0]  # an error would be the crash
            yield from _differs("valid", expect, begun == 2)
            table.batch()
            whole = table.content() == {"a": "1", "b": "2"}
            yield from _differs("container", expect, "starts" if whole else "lacks rows")


def _spoil_mark(state: Path) -> None:
    (data,) = state.rglob("data.mdb")
    opened = lmdb.open(str(data), subdir=False, max_dbs=3, lock=False)
    with opened as environment, environment.begin(write=True) as transaction:
        marks = environment.open_db(b"mark", txn=transaction)
        mark = transaction.get(b"mark", db=marks) or b""
        transaction.put(b"mark", mark[: len(mark) // 2], db=marks)


def _spoil_form(state: Path) -> None:
    (form,) = state.rglob("form")
    form.write_text(form.read_text("utf-8")[:-3], "utf-8")


@contextmanager
def _table(**settings: Any) -> Iterator[FilledTable]:
    with TemporaryDirectory() as folder:
        table = FilledTable(Path(folder), StoreKind.LMDB, **settings)
        yield table
        table.side_inputs.release()
        table.system.close()


def _starting_offset(given: Fields, expect: Fields) -> Iterator[str]:
    if "cases" in given:
        starts = {}
        for case in given["cases"]:
            file = case.get("file")
            position = None if file is None else file + 1
            starts[str(case["partition"])] = resume_position(position, case["oldest"])
        yield from _differs("start", expect, starts)
    elif given["oldest"] is None:
        yield from _unknown_partition(expect)
    else:
        yield from _fallen_off(given, expect)


def _unknown_partition(expect: Fields) -> Iterator[str]:
    """A partition of which the system knows nothing: there is no offset to begin at."""
    start: Any = None
    with _table(partitions=(9,)) as table:
        try:
            start = table.opened()
        except UnknownStreamError as error:
            if "users#9" not in str(error):
                yield f"the error does not name the partition: {error}"
    yield from _differs("start", expect, start)


def _fallen_off(given: Fields, expect: Fields) -> Iterator[str]:
    """The position of the store lies before the oldest record."""
    position, oldest = given["file"] + 1, given["oldest"]
    for bootstrap in (True, False):
        source = FillingPartition(bootstrap, OffsetSpan(oldest, oldest + 10), position)
        decided = recover_store(
            StoreOnDisk(NOW, {PLACE: position}), {PLACE: source}, now_ms=NOW, retention_ms=DAY
        )
        yield from _differs("start", expect, decided.positions[PLACE])
        yield from _differs("store_action", expect, decided.action.value)


def _gate(given: Fields, expect: Fields) -> Iterator[str]:
    """Offsets are those of records: what is contained ends behind them."""
    if "cases" in given:
        opened_at_once = [
            not BootstrapGate({PLACE: case["upcoming"]}).waits({PLACE: case["start"]})
            for case in given["cases"]
        ]
        yield from _differs("open_immediately", expect, opened_at_once)
        return
    if "bootstrap" in given:
        source = FillingPartition(given["bootstrap"], OffsetSpan(0, 10), 3)
        decided = recover_store(None, {PLACE: source}, now_ms=NOW, retention_ms=DAY)
        gate = BootstrapGate({PLACE: source.held_offsets.end} if source.bootstrap else {})
        yield from _differs("main_input_waits", expect, gate.waits(decided.positions))
        return
    newest = {Partition.parse(name): at for name, at in given["newest_at_start"].items()}
    gate = BootstrapGate({partition: 0 if at is None else at + 1 for partition, at in newest.items()})
    contained: dict[Partition, int] = dict.fromkeys(newest, 0)
    opened: Any = None if gate.waits(contained) else "start"
    for event in given["events"]:
        if opened is None and event[0] != "append":
            contained[Partition.parse(event[0])] = event[1] + 1
            opened = None if gate.waits(contained) else event
    yield from _differs("open_after", expect, opened)


def _offset_file(given: Fields, expect: Fields) -> Iterator[str]:
    """Positions are in the store's mark, which one commit writes together with the entries."""
    kind = StoreKind.LMDB if given["store_persistent"] else StoreKind.MEMORY
    if "last_processed" not in given:
        with stored(kind) as store:
            store.write({"k": "v"}, {"s#0": 3}, NOW)
            yield from _differs("directory_exists", expect, any(store.folder.iterdir()))
        return
    positions = {name: int(at) for name, at in given["last_processed"].items()}
    with stored(kind) as store:
        store.write({"k": "v"}, positions, NOW)
        mark, entries = store.read()
    found = {name: str(at) for name, at in mark.positions.items()} if mark else {}
    yield from _differs("file_offsets", expect, found)
    together = not found or entries == {"k": "v"}
    order = "store flushed before the file is written"
    yield from _differs("order", expect, order if together else f"{found} without its entries")


def _process(given: Fields, expect: Fields) -> Iterator[str]:
    with filled() as table:
        table.fill(list(given.get("store_before", {}).items()))
        table.fill([(key, value) for key, value in given["results"]])
        found = table.content()
    yield from _differs("store_after", expect, found)


def _pipeline(given: Fields, expect: Fields) -> Iterator[str]:
    """The table holds all of the profiles before the first view is looked up in it."""
    profiles = [(f"member-{n}", f"company-{n}") for n in range(given["profiles"])]
    views = [f"member-{n % given['profiles']}" for n in range(given["page_views"])]
    missing = 0
    for index in range(given["partitions"]):
        with filled() as table:
            table.fill([each for each in profiles if _place(each[0], given["partitions"]) == index])
            asked = [view for view in views if _place(view, given["partitions"]) == index]
            missing += sum(value is None for value in table.look_up(asked))
    yield from _differs("missing_joins", expect, missing)
    complete = "table is complete before the first view is processed"
    yield from _differs("reason", expect, complete if missing == 0 else "the table lacks rows")


def _routing(given: Fields, expect: Fields) -> Iterator[str]:
    """A stream that only fills a table is a side input in the plan: no operator reads it."""
    kinds = given["streams"]
    sides = [name for name, kind in kinds.items() if kind == "adjunct"]
    mains = [name for name, kind in kinds.items() if kind != "adjunct"]
    parsed = _app(mains, [{"name": "t", "columns": "v STRING", "sideInputs": [{"stream": s} for s in sides]}])
    roles = plan(build_graph(parsed.apps[0], dict.fromkeys(kinds, 1))).streams
    stored = [roles[message.partition(":")[0]].role is Role.SIDE_INPUT for message in given["messages"]]
    texts = [message.partition(":")[2] for message in given["messages"]]
    yield from _differs("process_returned", expect, stored)
    received = [text for text, kept in zip(texts, stored, strict=True) if not kept]
    yield from _differs("task_received", expect, received)


def _broadcast(given: Fields, expect: Fields) -> Iterator[str]:
    """Each container is a location of its own here; its writer reads each record once."""
    if "event" in given:
        if given["event"] != "writer task reassigned":
            yield f"nothing is known of the event {given['event']}"
        yield from _taken_over(expect)
        return
    containers = [f"c{number}" for number in range(given["containers"])]
    chosen = broadcast_writers({container: container for container in containers})
    yield from _differs("store_instances", expect, len(chosen))
    own = [sum(processor == container for processor in chosen.values()) for container in containers]
    yield from _differs("writes_per_container", expect, max(own) * given["records"])
    yield from _differs("tasks_that_can_read", expect, len(chosen) * given["tasks_per_container"])


def _taken_over(expect: Fields) -> Iterator[str]:
    """The store of a broadcast table is the location's, whoever fills it."""
    before = broadcast_writers({"a": "here", "b": "here"})
    after = broadcast_writers({"b": "here", "a": "there"}, before)
    yield from _differs("new_writer", expect, after["here"] != before["here"])
    with _table(broadcast=True) as table:
        table.write(a="1", b="2")
        table.batch()
        table.restarts()
        table.write(c="3")
        order = replace(table.order(), name="another task")
        contained = table.side_inputs.restore(order, OneSystem(table.system), lambda: None)
        begins = "last + 1" if list(contained.values()) == [2] else contained
        yield from _differs("start_offset", expect, begins)
        yield from _differs("store_kept", expect, table.content("another task").keys() == {"a", "b"})


def _consistency(given: Fields, expect: Fields) -> Iterator[str]:
    yield from _differs("snapshot_scope", expect, snapshot_scope(given["streams"]).value)


def _config(given: Fields, expect: Fields) -> Iterator[str]:
    table: dict[str, Any] = {"name": "t", "columns": "v STRING"}
    if given.get("side_inputs"):
        table["sideInputs"] = [{"stream": name} for name in given["side_inputs"]]
    if given.get("processor") is not None:
        for side in table["sideInputs"]:
            side["python"] = given["processor"]
    if given.get("changelog") is not None:
        table["changelog"] = bool(given["changelog"])
    names = dict.fromkeys(given.get("side_inputs") or ())
    outcome = "rejected" if _app(["main"], [table], list(names)).problems else "accepted"
    yield from _differs("outcome", expect, outcome)


def _bounded(given: Fields, expect: Fields) -> Iterator[str]:
    """Versions as in tests/runtime/lanes/task_stores/test_sealed_versions.py: a marker seals one."""
    with TemporaryDirectory() as folder:
        table = Versioned(Path(folder))
        found = []
        for event in given["events"]:
            if event == "MARK":
                table.mark()
            elif event.startswith("get "):
                value, version = table.get(event.removeprefix("get "))
                found.append(f"{value or 'missing'} (version {version})")
            else:
                key, _, value = event.partition("=")
                table.write(key, value)
        table.close()
    yield from _differs("get_b", expect, found)


def _app(
    mains: Sequence[str], tables: list[dict[str, Any]], sides: Sequence[str] | None = None
) -> ParseResult:
    fills = [side["stream"] for table in tables for side in table.get("sideInputs", ())]
    names = dict.fromkeys([*mains, *(fills if sides is None else sides)])
    streams = [{"name": n, "system": "m", "key": "v", "columns": "v STRING"} for n in names]
    joins = [
        {"name": f"j-{number}", "joinTable": {"from": main, "table": table["name"], "select": "v"}}
        for number, main in enumerate(mains)
        for table in tables
    ]
    return parse_data(
        {
            "apiVersion": "streamapp.dev/v1alpha1",
            "kind": "StreamApp",
            "metadata": {"name": "app", "namespace": "vectors"},
            "spec": {
                "systems": [{"name": "m", "embedded": {"path": "data"}}],
                "streams": streams,
                "tables": tables,
                "operators": joins,
            },
        }
    )


def _differs(name: str, expect: Fields, found: Any) -> Iterator[str]:
    if name in expect and expect[name] != found:
        yield f"{name} is {found!r}, not {expect[name]!r}"


def _place(key: str, partitions: int) -> int:
    return int(partition_of(pa.array([key.encode()], pa.binary()), partitions)[0])


_JUDGES: Mapping[str, Callable[[Fields, Fields], Iterator[str]]] = {
    "recovery": _recovery,
    "validity": _validity,
    "starting_offset": _starting_offset,
    "gate": _gate,
    "offset_file": _offset_file,
    "process": _process,
    "pipeline": _pipeline,
    "routing": _routing,
    "broadcast": _broadcast,
    "consistency": _consistency,
    "config": _config,
    "bounded": _bounded,
}
