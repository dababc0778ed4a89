"""The page about the life of an app says no more and no less than the code does."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import pairwise

import pytest

from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.partition_counts.lookup_results import (
    KnownCounts,
    PartitionCounts,
    PendingCounts,
)
from streamapp_operator.reconciler.status.app_condition import ConditionType
from streamapp_operator.reconciler.status.phase import PHASE_TEXTS, Phase
from streamapp_operator.reconciler.status.phase_diagram import PHASE_POSITIONS, phase_diagram
from streamapp_operator.reconciler.status.phase_transitions import PHASE_TRANSITIONS, PhaseTransition
from streamapp_operator.reconciler.status.reason_texts import CONDITION_TEXTS, REASON_TEXTS
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join

KNOWN = KnownCounts({"views": 8, "users": 8, "enriched": None})
UNEQUAL = KnownCounts({"views": 8, "users": 6, "enriched": None})


class Life:
    """An app whose phases are written down as they come."""

    def __init__(self) -> None:
        self.sim = OperatorSim.in_memory()
        self.phases: list[str] = []

    def then(self) -> None:
        """Reconcile until nothing changes, looking at the phase after each."""
        for _ in range(12):
            self.sim.reconcile()
            self.sim.warm_up()
            phase = self.sim.status()["phase"]
            if not self.phases or self.phases[-1] != phase:
                self.phases.append(phase)

    def run(self) -> None:
        self.sim.begin()
        self.sim.report()
        self.then()


def lives(open_until: ExitStack) -> Iterator[list[str]]:
    def begun(answer: PartitionCounts = KNOWN, **spec: object) -> Life:
        life = Life()
        open_until.callback(life.sim.close)
        life.sim.table.answer = answer
        life.sim.apply(join(**spec))
        life.then()
        return life

    waiting = begun(PendingCounts())
    waiting.sim.table.answer = UNEQUAL
    waiting.then()
    waiting.sim.table.answer = KNOWN
    waiting.then()
    yield waiting.phases

    known_later = begun(PendingCounts())
    known_later.sim.table.answer = KNOWN
    known_later.then()
    yield known_later.phases

    failing = begun(restartPolicy={"maxRestarts": 1})
    failing.run()
    failing.sim.end(code=3)
    failing.then()
    failing.sim.pass_time(10)
    failing.then()
    failing.run()
    failing.sim.end(code=3)
    failing.then()
    yield failing.phases

    edited = begun()
    edited.run()
    edited.sim.edit(restartNonce=1)
    edited.then()
    edited.sim.remove("app-driver-1")
    edited.then()
    edited.run()
    edited.sim.edit(suspend=True)
    edited.then()
    edited.sim.remove("app-driver-2")
    edited.then()
    edited.sim.edit(suspend=False)
    edited.then()
    edited.run()
    edited.sim.end(code=0, message=json.dumps({"outcome": "done"}))
    edited.then()
    yield edited.phases


@pytest.fixture(scope="module")
def seen() -> set[tuple[str, str]]:
    with ExitStack() as open_until:
        return {pair for phases in lives(open_until) for pair in pairwise(phases)}


@pytest.mark.parametrize("way", PHASE_TRANSITIONS, ids=lambda way: f"{way.before}-{way.after}")
def test_every_arrow_is_a_way_that_an_app_takes(seen: set[tuple[str, str]], way: PhaseTransition) -> None:
    assert (way.before, way.after) in seen


def test_every_phase_condition_and_reason_has_its_sentence() -> None:
    assert set(PHASE_TEXTS) == set(Phase) == set(PHASE_POSITIONS)
    assert set(CONDITION_TEXTS) == set(ConditionType)
    assert set(REASON_TEXTS) == set(ConditionReason)


def test_every_phase_and_arrow_is_in_the_picture() -> None:
    drawn = phase_diagram()
    assert all(f">{phase}<" in drawn for phase in Phase)
    assert drawn.count('class="way"') == len(PHASE_TRANSITIONS)
