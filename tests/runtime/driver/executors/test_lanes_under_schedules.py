"""Driver, lanes and log under schedules of faults: what is written is exact, and each rule is needed for it.

The loop, the exchange, the lane server, the workers, their stores and the log are the real ones; threads
stand where Spark has processes. `HAZARDS` has each rule whose absence a schedule shows, `NOT_PLAYED` others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import given, settings

from streamapp_runtime.driver.executors import resident_lanes
from streamapp_runtime.lanes.delivery_guarantee import DeliveryGuarantee
from streamapp_runtime.systems.kafka import kafka_system
from tests.harness.machine.random_cases import share
from tests.harness.runs.app_runs import AppEnv
from tests.harness.runs.run_systems import ON_KAFKA
from tests.harness.schedules import switched_off_rules as rules
from tests.harness.schedules.fault_points import FaultKind, FaultPoint
from tests.harness.schedules.played_app import app_under_schedules, played_app, played_on_broker
from tests.harness.schedules.schedule_steps import (
    Arm,
    Feed,
    Schedule,
    StartDriver,
    StepDriver,
    TryBatch,
    WakeOne,
    schedules,
)

pytestmark = pytest.mark.usefixtures("loopback")

INDEPENDENT = pytest.mark.parametrize("independent", [False, True], ids=["in lock-step", "independent"])
SwitchOff = Callable[[pytest.MonkeyPatch], None]

FIRST, SECOND = StepDriver(0), StepDriver(1)
BEGUN: Final[Schedule] = (Feed(6), StartDriver(), FIRST, FIRST)


def at(point: FaultPoint, kind: FaultKind, lane: int | None = 0) -> Arm:
    """A fault of the first driver, or of a lane of it."""
    return Arm(0, lane, point, kind)


@dataclass(frozen=True, slots=True)
class Hazard:
    """What could go wrong, the rule that prevents it, and a schedule that shows it without the rule."""

    hazard: str
    rule: str
    where: str
    without: tuple[SwitchOff, ...]  # several where each of them alone is enough
    schedule: Schedule
    independent: bool = False  # whether it needs lanes that do not wait for each other


COMMITS_LATE: Final[Schedule] = (
    *BEGUN,
    Feed(6),
    at(FaultPoint.COMMITS, FaultKind.HOLD),
    FIRST,
    StartDriver(),
)
REPORTS_LATE: Final[Schedule] = (
    *(*BEGUN, Feed(40)),
    *(at(FaultPoint.REPORTS, FaultKind.LATE), at(FaultPoint.REPORTS, FaultKind.LATE, 1), FIRST) * 5,
)

HAZARDS: Final = (
    Hazard(
        "two drivers (H8): a lane of the first commits after the second took over",
        "nothing of a lower incarnation than the fence commits",
        "embedded_transaction.fenced_with",
        (rules.without_fence,),
        (*COMMITS_LATE, WakeOne()),
    ),
    Hazard(
        "two drivers (H8): both write the same rows",
        "the fence, and the comparison of checkpoints in the transaction",
        "embedded_transaction.fenced_with, latest_index.differing_key",
        (rules.without_fence, rules.without_comparison),
        (*COMMITS_LATE, SECOND, SECOND, SECOND, WakeOne()),
    ),
    Hazard(
        "two drivers take the same incarnation",
        "who records an incarnation compares with the record that it has read",
        "latest_index.differing_key, by CheckpointStream._begin",
        (rules.without_comparison,),
        (
            *(*BEGUN, Feed(6), at(FaultPoint.COMMITS, FaultKind.DIE), FIRST),
            *(at(FaultPoint.WRITES, FaultKind.HOLD, None), FIRST, StartDriver(), WakeOne()),
        ),
    ),
    Hazard(
        "a driver that was replaced goes on, idle or at least once (H8)",
        "each driver looks at intervals whether another has taken over",
        "Loop._look_for_successor",
        (rules.without_looks_for_a_successor,),
        (*BEGUN, StartDriver(), SECOND),
    ),
    Hazard(
        "the worker of a lost lane wakes up beside its successor (H1, H2)",
        "after a failure the incarnation is raised before lanes are bound",
        "LaneSupervisor.fail",
        (rules.without_fence_after_failure,),
        (
            *(*BEGUN, Feed(6), at(FaultPoint.COMMITS, FaultKind.PAUSE)),
            *(FIRST, FIRST, FIRST, WakeOne()),
        ),
    ),
    Hazard(
        "the worker of a lane that was lost alone wakes up beside its successor (H2)",
        "the incarnation is raised before the lanes that are left go on, and commits compare checkpoints",
        "LaneSupervisor.fence, latest_index.differing_key",
        (rules.without_fence_of_lost_lanes, rules.without_comparison),
        (
            *(*BEGUN, Feed(6), at(FaultPoint.COMMITS, FaultKind.PAUSE)),
            *(FIRST, FIRST, FIRST, FIRST, WakeOne()),
        ),
        independent=True,
    ),
    Hazard(
        "a commit is done, and its report lost (H3)",
        "no outcome is inferred: checkpoints are read behind the fence",
        "CheckpointStream.raise_incarnation",
        (rules.without_reading_after_fence,),
        (*BEGUN, Feed(6), at(FaultPoint.COMMITTED, FaultKind.DIE), FIRST, FIRST, FIRST),
    ),
    Hazard(
        "a repeated report is taken for that of another batch, and nobody compares (H3, H7)",
        "a report names its batch, and an order carries a digest of the checkpoints that the driver believes",
        "ResidentLanes.receive, order_codec._digest",
        (rules.without_numbers_of_reports, rules.without_digest),
        REPORTS_LATE,
    ),
    Hazard(
        "a lane of an earlier binding takes the orders of its successor (H2)",
        "who belongs to an earlier binding is told that there are no more orders",
        "LaneServer._is_current",
        (rules.without_bindings,),
        (
            *(*BEGUN, Feed(6), at(FaultPoint.REPORTS, FaultKind.PAUSE), FIRST),
            *(at(FaultPoint.SENDS, FaultKind.HOLD, None), FIRST, WakeOne()),
            *(at(FaultPoint.COMMITS, FaultKind.DIE, 1), WakeOne(), FIRST, FIRST),
        ),
    ),
    Hazard(
        "an order is served again (H7)",
        "a lane says which batch it has served, and is given later ones only",
        "LaneServer._answer",
        (rules.without_numbers_of_orders,),
        (*BEGUN, Feed(6), FIRST, FIRST),
    ),
    Hazard(
        "writes of an attempt that was not committed come into the store (H3)",
        "each attempt has a name of its own, and only what the checkpoint names is applied",
        "checkpoint.attempt_name, LaneStores._settle",
        (rules.without_attempts,),
        (*BEGUN, Feed(6), *(FIRST, TryBatch(0)) * 4),
    ),
    Hazard(
        "a store is behind its task's checkpoint, or gone",
        "a store replays its changelog from its mark to the checkpoint",
        "lane_stores._restore",
        (rules.without_restoring,),
        (
            *(*BEGUN, FIRST, FIRST, Feed(6), at(FaultPoint.ORDERED, FaultKind.DIE_WITH_DISK)),
            *(at(FaultPoint.ORDERED, FaultKind.DIE_WITH_DISK, 1), FIRST, FIRST, FIRST),
        ),
    ),
    Hazard(
        "a worker ends between its outputs and its checkpoints",
        "outputs, changelog and checkpoints are one transaction",
        "EmbeddedTransaction.append",
        (rules.without_one_transaction,),
        (*BEGUN, Feed(6), at(FaultPoint.COMMITS, FaultKind.DIE), FIRST, FIRST),
    ),
    Hazard(
        "records of the app's own streams go before they were read",
        "records are deleted up to the positions of committed checkpoints",
        "Backlog.forget_read",
        (rules.without_waiting_for_readers,),
        (*BEGUN, FIRST, FIRST),
    ),
)

NOT_PLAYED: Final = {
    "tasks move between lanes (H1): TASKS_MOVED leads to a fence": "moves are played; without the "
    "fence nothing shows, since every lane that was released or has failed is idle or fenced by then",
    "misplaced lanes share a process": "played with the rule; a thread that serves two lanes has two workers",
    "a store that a living worker of the app keeps (store_claim.take)": "it ends processes",
    "writers trust their caches, and take over names (H1, H13)": "Kafka alone: the embedded log compares "
    "in the write transaction",
    "terms of lanes (H2)": "there are none: the loss of a lane raises the incarnation of all",
    "turns (H6)": "the app has no side input",
    "suspects of one lane (H10), back pressure (H12)": "tests of the search and of what is read hold them",
    "checkpoints that the driver writes for lost topics (H4)": "no schedule truncates a topic",
    "versions of broadcast tables (H5)": "the app has no side input",
    "release, ends of batch apps (H9, H11)": "no schedule ends an app or changes its model",
    "free slots, dead daemons, settings, late news (H15 to H18)": "they are Spark's, which is not here",
    "silence and the driver's loop (H19, H21)": "schedules have no clock",
    "strangers (H20)": "they are played against the lane server itself in test_lane_server",
}
"""The other hazards of the design's review, and why no rule is switched off for them here."""


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads end at once, or sleep: nothing is gained by waiting for them as for Spark."""
    for name in ("END_SECONDS", "LOSS_SECONDS", "CANCEL_SECONDS"):
        monkeypatch.setattr(resident_lanes, name, 1.0)


def violations(
    schedule: Schedule,
    *,
    wait_seconds: float = 60.0,
    delivery: str = "exactlyOnce",
    independent: bool = False,
) -> list[str]:
    app = app_under_schedules(delivery)
    with TemporaryDirectory() as folder, played_app(Path(folder), app, independent=independent) as played:
        played.points.wait_seconds = wait_seconds
        return played.play(schedule)


@INDEPENDENT
@settings(max_examples=share(0.5), deadline=None, derandomize=True, database=None)
@given(schedule=schedules())
def test_whatever_befalls_drivers_and_lanes_each_row_is_written_once(
    schedule: Schedule, independent: bool
) -> None:
    assert violations(schedule, independent=independent) == []


@settings(max_examples=share(0.1), deadline=None, derandomize=True, database=None)
@given(schedules())
def test_on_the_embedded_log_at_least_once_is_exact_as_well(schedule: Schedule) -> None:
    assert violations(schedule, delivery="atLeastOnce") == []


@pytest.mark.long
@pytest.mark.timeout(1_200)
@pytest.mark.parametrize(
    "independent",
    [pytest.param(False, marks=pytest.mark.nightly), True],
    ids=["in lock-step", "independent"],
)
@given(schedule=schedules(80))
def test_whatever_befalls_drivers_and_lanes_for_long_each_row_is_written_once(
    schedule: Schedule, independent: bool
) -> None:
    assert violations(schedule, independent=independent) == []


def test_a_driver_whose_successor_has_cleared_what_it_reads_says_that_it_was_replaced() -> None:
    begun = (*BEGUN, FIRST, FIRST, FIRST, Feed(12), FIRST)
    assert violations((*begun, StartDriver(), *(SECOND,) * 7, FIRST)) == []


BOTH_BUSY: Final[Schedule] = (
    *(*BEGUN, Feed(20), FIRST, FIRST, at(FaultPoint.COMMITS, FaultKind.HOLD)),
    *(at(FaultPoint.COMMITS, FaultKind.HOLD, 1), FIRST, StartDriver(), *(SECOND,) * 8),
)
AND_ONE_DIES: Final[Schedule] = (
    *(WakeOne(), WakeOne(), Arm(1, 0, FaultPoint.ORDERED, FaultKind.DIE), Feed(6), SECOND, SECOND, SECOND),
)


@ON_KAFKA
@pytest.mark.parametrize(
    "schedule",
    [
        (*BOTH_BUSY, *AND_ONE_DIES),
        (*BEGUN, Feed(20), FIRST, StartDriver(), *(SECOND, FIRST) * 4, *AND_ONE_DIES),
        (*BOTH_BUSY, *AND_ONE_DIES, StartDriver(), *(StepDriver(2), SECOND) * 3),
    ],
    ids=["a late checkpoint", "by turns", "three drivers"],
)
def test_at_least_once_without_a_fence_two_busy_drivers_lose_no_row(
    env: AppEnv, schedule: Schedule, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_system, "DELETE_SECONDS", 0.0)  # what was read goes at once
    with played_on_broker(env, app_under_schedules("atLeastOnce", counts=False)) as played:
        assert played.play(schedule) == []
        assert {one.loop.launch.setup.delivery for one in played.drivers if one.loop} == {
            DeliveryGuarantee.AT_LEAST_ONCE
        }


PLAYS: Final = 4


@INDEPENDENT
@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda hazard: hazard.where)
def test_with_its_rule_a_hazard_does_no_harm(hazard: Hazard, independent: bool) -> None:
    assert violations(hazard.schedule, independent=independent) == []


@pytest.mark.parametrize("hazard", HAZARDS, ids=lambda hazard: hazard.where)
def test_without_its_rule_a_hazard_is_noticed(hazard: Hazard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes are threads, so that the same steps may pass by the fault; one of a few plays meets it."""
    for switch_off in hazard.without:
        switch_off(monkeypatch)
    plays = (
        violations(hazard.schedule, wait_seconds=3.0, independent=hazard.independent) for _ in range(PLAYS)
    )
    assert any(plays)


@pytest.mark.parametrize("switch_off", [rules.without_numbers_of_reports, rules.without_digest])
def test_the_numbers_of_reports_and_the_digest_guard_for_each_other(
    switch_off: SwitchOff, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch_off(monkeypatch)
    assert violations(REPORTS_LATE) == []
