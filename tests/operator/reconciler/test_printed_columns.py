"""What `kubectl get sapp` prints, by a real API server."""

import re

from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

pytestmark = ON_REAL_SERVER


def printed(sim: OperatorSim, *options: str) -> dict[str, str]:
    """The row of the only app, by the heads of the columns."""
    done = sim.kubectl("get", "sapp", "-n", sim.namespace, *options)
    heads, cells = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    starts = [heads.index(head) for head in heads.split()]
    ends = [*starts[1:], None]
    return {
        head: cells[start:end].strip() for head, start, end in zip(heads.split(), starts, ends, strict=True)
    }


def test_a_running_app_is_ready_and_says_why(sim: OperatorSim) -> None:
    sim.bring_up(join())
    row = printed(sim)
    assert list(row) == ["NAME", "PHASE", "READY", "REASON", "TASKS", "PROCESSORS", "RESTARTS", "AGE"]
    assert (row["PHASE"], row["READY"], row["REASON"]) == ("Running", "True", "Running")


def test_an_app_that_no_operator_has_seen_has_neither(sim: OperatorSim) -> None:
    sim.apply(join())
    row = printed(sim)
    assert (row["PHASE"], row["READY"], row["REASON"]) == ("", "", "")


def test_an_app_that_runs_on_after_a_refused_edit_is_ready_and_the_reason_is_that_of_the_edit(
    sim: OperatorSim,
) -> None:
    sim.bring_up(join())
    sim.edit(serviceAccountName="of-somebody-else")
    sim.settle()
    row = printed(sim)
    assert (row["PHASE"], row["READY"], row["REASON"]) == ("Running", "True", "OutsideAllowList")


def test_a_failed_driver_leaves_the_app_not_ready(sim: OperatorSim) -> None:
    sim.bring_up(join())
    sim.end(code=3)
    sim.settle()
    row = printed(sim)
    assert (row["PHASE"], row["READY"], row["REASON"]) == ("BackingOff", "False", "DriverFailed")


def test_the_wide_row_says_since_when_and_where(sim: OperatorSim) -> None:
    sim.bring_up(join())
    row = printed(sim, "-o", "wide")
    assert list(row)[8:] == ["SINCE", "UPDATED", "PLAN", "DRIVER", "NODE"]
    assert (row["PLAN"], row["DRIVER"], row["NODE"]) == ("accepted", "app-driver-1", "node-a")
    assert row["SINCE"] not in ("", "<unknown>", "<none>")


def test_the_wide_row_says_how_long_ago_the_operator_wrote_it(sim: OperatorSim) -> None:
    sim.apply(join())
    assert printed(sim, "-o", "wide")["UPDATED"] in ("", "<unknown>", "<none>")
    sim.settle()
    assert re.fullmatch(r"\d+[sm].*", printed(sim, "-o", "wide")["UPDATED"])
