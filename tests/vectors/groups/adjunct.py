"""Judges adjunct.json: the rules themselves, and where a vector is about stores, real ones of the engine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from streamapp.graph.graph_builder import build_graph
from streamapp.plan.partition_plan import Role
from streamapp.plan.planner import plan
from streamapp.side_inputs.bootstrap_gate import BootstrapGate
from streamapp.side_inputs.broadcast_writers import broadcast_writers
from streamapp.side_inputs.store_recovery import FillingPartition, StoreAction, recover_store, resume_position
from streamapp.side_inputs.store_validity import FoundStore, HeldOffsets, is_stale
from streamapp.spec.parser import ParseResult, parse_data
from streamapp.tasks.partition import Partition
from streamapp_runtime.key_partitioning import partition_of
from streamapp_runtime.stores.store import StoreKind
from tests.harness.core.snapshot_scope import snapshot_scope
from tests.harness.engine.versioned_table import Versioned
from tests.vectors.tables import filled, stored

RECIPES = "tests/streamapp/side_inputs and tests/runtime/lanes/task_stores"
DAY = 86_400_000
NOW = 10 * DAY
PLACE = Partition("s", 0)
_KEPT = frozenset({"keep", "reuse", "open", "use", "continue", "none"})
"""Words of vectors for a store that is gone on with."""


def run(vector: dict[str, Any]) -> list[str]:
    return list(_JUDGES[vector["kind"]](vector["input"], vector["expect"]))


def _recovery(given: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
    """A valid store contains what was read; the stream ends there where the vector says nothing else."""
    last, oldest = given["last_offset_next"], given["oldest_offset"]
    end = given.get("end_offset", given.get("newest_offset", last - 1) + 1)
    source = FillingPartition(given["bootstrap"], HeldOffsets(oldest, max(end, last)), last)
    written = {"valid": NOW, "invalid": NOW - 2 * DAY}
    state = given.get("store", "none") if given["persistent"] else "none"
    found = FoundStore(written[state], {PLACE: last}) if state in written else None
    decided = recover_store(found, {PLACE: source}, now_ms=NOW, retention_ms=DAY)
    gate = BootstrapGate({PLACE: source.held_offsets.end} if source.bootstrap else {})
    action = expect.get("store_action", decided.action.value)
    if action != decided.action and not (decided.action is StoreAction.KEEP and action in _KEPT):
        yield f"the store is dealt with by {decided.action}, not {action}"
    yield from _differs("start_offset", expect, decided.positions[PLACE])
    yield from _differs("main_input_waits", expect, gate.waits(decided.positions))


def _validity(given: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
    valid = [
        "age_ms" in case
        and "missing" not in case.values()
        and not is_stale(case["age_ms"], given["retention_ms"])
        for case in given["cases"]
    ]
    yield from _differs("valid", expect, valid)


def _starting_offset(given: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
    found = {}
    for case in given["cases"]:
        file = case.get("file")
        found[str(case["partition"])] = resume_position(None if file is None else file + 1, case["oldest"])
    yield from _differs("start", expect, found)


def _gate(given: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
    """Offsets are those of records: what is contained ends behind them."""
    newest = {Partition.parse(name): at for name, at in given["newest_at_start"].items()}
    gate = BootstrapGate({partition: 0 if at is None else at + 1 for partition, at in newest.items()})
    contained: dict[Partition, int] = dict.fromkeys(newest, 0)
    opened: Any = None if gate.waits(contained) else "start"
    for event in given["events"]:
        if opened is None and event[0] != "append":
            contained[Partition.parse(event[0])] = event[1] + 1
            opened = None if gate.waits(contained) else event
    yield from _differs("open_after", expect, opened)


def _offset_file(given: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
    """Positions are in the store's mark, which one commit writes together with the entries."""
    positions = {name: int(at) for name, at in given["last_processed"].items()}
    kind = StoreKind.LMDB if given["store_persistent"] else StoreKind.MEMORY
    with stored(kind) as store:
        store.write({"k": "v"}, positions, NOW)
        mark, entries = store.read()
    found = {name: str(at) for name, at in mark.positions.items()} if mark else {}
    if found != expect["file_offsets"] or (found and entries != {"k": "v"}):
        yield f"{found} with {entries} was kept, not {expect['file_offsets']}"


def _process(given: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
    with filled() as table:
        table.fill(list(given.get("store_before", {}).items()))
        table.fill([(key, value) for key, value in given["results"]])
        found = table.content()
    yield from _differs("store_after", expect, found)


def _pipeline(given: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
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


def _routing(given: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
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


def _broadcast(given: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
    """Each container is a location of its own here; its writer reads each record once."""
    containers = [f"c{number}" for number in range(given["containers"])]
    chosen = broadcast_writers({container: container for container in containers})
    yield from _differs("store_instances", expect, len(chosen))
    own = [sum(processor == container for processor in chosen.values()) for container in containers]
    yield from _differs("writes_per_container", expect, max(own) * given["records"])
    yield from _differs("tasks_that_can_read", expect, len(chosen) * given["tasks_per_container"])


def _consistency(given: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
    yield from _differs("snapshot_scope", expect, snapshot_scope(given["streams"]).value)


def _config(given: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
    table: dict[str, Any] = {"name": "t", "columns": "v STRING"}
    if given.get("side_inputs"):
        table["sideInputs"] = [{"stream": name} for name in given["side_inputs"]]
    if given.get("changelog") is not None:
        table["changelog"] = bool(given["changelog"])
    names = dict.fromkeys(given.get("side_inputs") or ())
    outcome = "rejected" if _app(["main"], [table], list(names)).problems else "accepted"
    yield from _differs("outcome", expect, outcome)


def _bounded(given: dict[str, Any], expect: dict[str, Any]) -> Iterator[str]:
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


def _differs(name: str, expect: dict[str, Any], found: Any) -> Iterator[str]:
    if name in expect and expect[name] != found:
        yield f"{name} is {found!r}, not {expect[name]!r}"


def _place(key: str, partitions: int) -> int:
    return int(partition_of(pa.array([key.encode()], pa.binary()), partitions)[0])


_JUDGES: Mapping[str, Callable[[dict[str, Any], dict[str, Any]], Iterator[str]]] = {
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
