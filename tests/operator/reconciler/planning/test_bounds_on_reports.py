"""What one app reports cannot take the operator of all apps down: numbers, lists and texts have bounds."""

import json
import tracemalloc
from base64 import b64encode
from collections.abc import Callable
from typing import Any

import pytest

from streamapp.durable_forms import PACKED_LIST
from streamapp.jobmodel.packed_columns import ColumnWriter
from streamapp.jobmodel.sealed_frame import SealedFrame
from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.protocol import message_names
from streamapp.protocol.message_frame import MessageUnreadableError
from streamapp.protocol.packed_lists import pack_rows
from streamapp.protocol.report_codec import decode_report
from streamapp.spec.app_bounds import MOST_PARTITIONS, MOST_PROCESSORS
from streamapp_operator.reconciler.partition_counts.lookup_results import KnownCounts
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join

MOST_BYTES = 60 * 2**20


def write_report(sim: OperatorSim, **fields: Any) -> None:
    """The driver's report with fields of another's making."""
    config_map = sim.config_map("app-report")
    report = json.loads(config_map["data"][message_names.REPORT]) | fields
    data = {"data": {message_names.REPORT: json.dumps(report)}}
    path = f"/api/v1/namespaces/{sim.namespace}/configmaps/app-report"
    sim.server.ask("PATCH", path, data, "application/merge-patch+json")


def peak_of(work: Callable[[], object]) -> int:
    """The memory that a piece of work takes at most, in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("count", [2_000_000, 10**9, 2**53])
def test_a_report_of_many_partitions_is_refused_with_the_bound_and_the_app_goes_on(
    sim: OperatorSim, count: int
) -> None:
    sim.bring_up(join())
    write_report(sim, counts={"views": count, "users": 8})
    assert peak_of(sim.settle) < MOST_BYTES
    assert sim.says("Degraded") == ("True", "TooManyPartitions")
    message = sim.condition("Degraded")["message"]
    assert f"views has {count:,}" in message
    assert f"one app may have {MOST_PARTITIONS:,}" in message
    assert sim.says("Ready") == ("True", "Running")
    assert len(sim.drivers()) == 1
    assert sim.status()["tasks"] == 8


def test_topics_of_too_many_partitions_are_refused(sim: OperatorSim) -> None:
    sim.table.answer = KnownCounts({"views": MOST_PARTITIONS, "users": 8, "enriched": None})
    sim.apply(join())
    sim.settle()
    assert sim.says("Accepted") == ("False", "TooManyPartitions")
    assert f"{MOST_PARTITIONS + 8:,} partitions together" in sim.condition("Accepted")["message"]
    assert sim.names("pods") == []


def packed(rows: int, name: str) -> str:
    return pack_rows({f"{name}{number}": ("p",) for number in range(rows)}, 1)


def wide_names(rows: int, length: int) -> str:
    """A few bytes that stand for many long names."""
    columns = ColumnWriter()
    columns.choices(["x" * length] * rows)
    columns.steps(list(range(rows)))
    columns.choices([""] * rows)
    for _ in range(2):
        columns.numbers([1] * rows)
        columns.choices(["p"] * rows)
    seal = SealedFrame(mark=b"SAPA", form=PACKED_LIST, refusal=MessageUnreadableError)
    return b64encode(seal.close(columns.packed())).decode()


UNREADABLE: dict[str, Callable[[], dict[str, Any]]] = {
    "more-processors-than-an-app-has": lambda: {
        "binding": pack_rows({f"p-{n}": ("a", "b") for n in range(MOST_PROCESSORS + 1)}, 2)
    },
    "more-moved-tasks-than-an-app-has": lambda: {"moved": packed(MOST_PARTITIONS + 1, "t")},
    "names-of-gigabytes": lambda: {"binding": wide_names(MOST_PROCESSORS, 100_000)},
    "a-version-beyond-all-numbers": lambda: {"modelVersion": 2**64},
    "a-count-beyond-all-numbers": lambda: {"counts": {"views": 10**30}},
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_report_that_stands_for_more_than_an_app_has_is_not_read(name: str) -> None:
    text = json.dumps({"kind": "report", "format": 1, "state": "running", **UNREADABLE[name]()})

    def read() -> None:
        with pytest.raises(UnreadableError):
            decode_report(text)

    assert peak_of(read) < MOST_BYTES
