"""Whatever is killed while an app runs, each output is written exactly once, and no total loses a row.

A few of the records are bad, or take the app's Python worker with them: each is set aside exactly once.
"""

from itertools import islice
from pathlib import Path

import pytest

from tests.harness.crash.attacks import RESET, Attack, attacks
from tests.harness.crash.siege import LaneWay, Siege
from tests.harness.kafka.jars import TO_BE_KILLED
from tests.harness.kafka.late_proxy import broker_behind_a_schedule

SIEGE_SECONDS = 1_800
"""A siege that hangs ends itself, after 500 s without a record. One that goes on may take its time: while a
slow machine recovers, more is fed, and every record that ends its worker is searched for."""

OF_EACH_KIND = (
    Attack(victim="worker", commits=1, delay=0.2, pick=0.5),
    Attack(point="commit.after.processor-0", commits=200),
    Attack(point="store.before-apply", commits=200),
    Attack(point="adjunct.applied", commits=200),
    Attack(victim="executor", commits=200, delay=0.1),
    Attack(victim="frozen executor", commits=200, pick=0.4),
    Attack(victim="driver", commits=200, delay=0.3),
    Attack(point="commit.before.processor-1", commits=200),
)
"""Together these reach every path of recovery, and cost only one start of Spark more than none would."""


@pytest.mark.long
@pytest.mark.timeout(SIEGE_SECONDS)
@pytest.mark.parametrize(
    "lanes",
    [LaneWay.INDEPENDENT, LaneWay.EVALUATED, pytest.param(LaneWay.RESIDENT, marks=pytest.mark.nightly)],
)
def test_outputs_and_totals_are_exact_after_processes_of_each_kind_were_killed(
    tmp_path: Path, lanes: LaneWay
) -> None:
    siege = Siege(tmp_path, print, lanes=lanes)
    assert siege.run(OF_EACH_KIND, seed=1) == []
    assert siege.killed.total() >= len(OF_EACH_KIND)
    assert all(siege.set_aside.values()), "nothing was bad"


ON_A_BROKER = (
    Attack(victim="worker", commits=1, delay=0.2, pick=0.5),
    Attack(victim="broker", commits=200, delay=0.1),
    Attack(point="commit.after.processor-1", commits=200),
    Attack(victim="frozen broker", commits=200),
    Attack(victim=RESET, commits=200, delay=0.2),
    Attack(victim="driver", commits=200, delay=0.3),
    Attack(victim="broker", commits=1),
    Attack(victim=RESET, commits=1),
)


@pytest.mark.long
@pytest.mark.timeout(SIEGE_SECONDS)
@pytest.mark.usefixtures("kafka_jars")
@pytest.mark.parametrize("transaction_version", [pytest.param(1, marks=pytest.mark.nightly), 2])
@pytest.mark.parametrize(
    "lanes",
    [
        LaneWay.INDEPENDENT,
        pytest.param(LaneWay.RESIDENT, marks=pytest.mark.nightly),
        pytest.param(LaneWay.EVALUATED, marks=pytest.mark.nightly),
    ],
)
def test_outputs_and_totals_are_exact_after_the_broker_was_killed_among_others(
    tmp_path: Path, lanes: LaneWay, transaction_version: int
) -> None:
    """Requests of transactions come late and twice meanwhile."""
    schedule = broker_behind_a_schedule(tmp_path / "broker", transaction_version, 2, TO_BE_KILLED)
    with schedule as (broker, way):
        siege = Siege(tmp_path / "siege", print, broker, lanes=lanes, address=way.address)
        assert siege.run(ON_A_BROKER, seed=2) == []
        assert siege.killed["broker"] == 2
        assert all(siege.set_aside.values()), "nothing was bad"
        assert way.arrived, "no request came late"


def test_the_same_seed_makes_the_same_attacks() -> None:
    assert list(islice(attacks(7), 30)) == list(islice(attacks(7), 30))


def test_another_seed_makes_others() -> None:
    assert list(islice(attacks(7), 30)) != list(islice(attacks(8), 30))
