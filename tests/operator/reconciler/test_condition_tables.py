"""Conditions are tables of rows, of which the first that fits decides."""

import pytest

from streamapp_operator.reconciler.status.app_condition import ConditionType
from streamapp_operator.reconciler.status.conditions.condition_list import CONDITIONS
from streamapp_operator.reconciler.status.conditions.condition_table import (
    ConditionRow,
    ConditionTable,
    always,
)
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join

LAST = ConditionRow(always, "False", "NotSuspended", "")


def test_each_type_of_condition_has_a_table() -> None:
    assert [table.type for table in CONDITIONS] == list(ConditionType)


@pytest.mark.parametrize("rows", [(), (LAST, LAST), (ConditionRow(lambda _: True, "True", "Suspended", ""),)])
def test_a_table_whose_rows_may_all_miss_or_are_never_reached_is_refused(
    rows: tuple[ConditionRow, ...],
) -> None:
    with pytest.raises(ValueError, match="Suspended: the last row, and no other, fits always"):
        ConditionTable(ConditionType.SUSPENDED, rows)


def test_an_app_that_has_soon_done_its_work_is_not_degraded(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.end(code=0)
    sim.settle()
    assert sim.says("Ready") == ("False", "Completed")
    assert sim.says("Degraded") == ("False", "Healthy")
    assert sim.status()["reason"] == "Completed"
