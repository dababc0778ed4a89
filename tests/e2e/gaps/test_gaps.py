"""For how long no row is committed when something fails or is changed, at 1,000 views a second.

The figures are printed as a table, and are asserted generously. No row may be lost, doubled or out of order.
"""

import sys
import time
from collections.abc import Iterator

import pytest

from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT, Space
from tests.harness.cluster.cluster_faults import FAULTS
from tests.harness.cluster.steady_traffic import Gap, SteadyTraffic
from tests.harness.cluster.waiting import until

APP = "gaps"
REST_SECONDS = 5.0
"""How long rows come undisturbed before a fault."""


@pytest.fixture(scope="module")
def measured(request: pytest.FixtureRequest) -> Iterator[dict[str, Gap]]:
    """The gaps, printed at the end."""
    gaps: dict[str, Gap] = {}
    yield gaps
    width = max(map(len, gaps), default=0)
    lines = [f"{'seconds without a row':<{width}}  whole app  worst partition  best partition"]
    lines += (
        f"{name:<{width}}  {gap.app:9.1f}  {gap.partition:15.1f}  {gap.others:14.1f}"
        for name, gap in gaps.items()
    )
    with request.config.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
        sys.stdout.writelines(f"{line}\n" for line in ("", *lines))


@pytest.fixture(scope="module")
def traffic() -> SteadyTraffic:
    return SteadyTraffic(APP)


@pytest.fixture(scope="module")
def space(new_space: NewSpace, traffic: SteadyTraffic) -> Iterator[Space]:
    space = new_space(APP)
    traffic.begin()
    with traffic:
        space.play("gaps/01")
        traffic.caught_up(LIMIT)
        yield space


@pytest.mark.parametrize("name", FAULTS)
def test_rows_come_again_soon_after(
    space: Space, traffic: SteadyTraffic, measured: dict[str, Gap], name: str
) -> None:
    fault = FAULTS[name]
    fault.prepare(space)
    space.looks_like("gaps/01-assert")
    traffic.caught_up(LIMIT)
    rested = time.monotonic() + REST_SECONDS
    until(lambda: [] if time.monotonic() >= rested else ["rows come"], LIMIT)
    since = time.monotonic()
    fault.disturb(space)
    traffic.caught_up(LIMIT)
    gap = measured[name] = traffic.gap(since, time.monotonic())
    assert gap.app < fault.app
    assert gap.partition < fault.partition


def test_in_the_end_each_row_is_there_once_and_in_order(space: Space, traffic: SteadyTraffic) -> None:
    traffic.end()
    until(traffic.wrong, LIMIT)
    assert traffic.disordered() == []
