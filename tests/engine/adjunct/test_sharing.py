"""Who fills a broadcast table, and which version of it every lane reads."""

from dataclasses import dataclass, field

import pytest

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.sharing import LEAST_SECONDS, SharedTable, Sharing
from streamapp_runtime.lanes.orders import Report, SharedOrder

A, B = Partition("rates>prices", 0), Partition("rates>prices", 1)
LANES = {"p0": ("t0", "t2"), "p1": ("t1",), "idle": ()}
ENDS = {A: 3, B: 0}


@dataclass
class Driver:
    """A driver with two lanes that have tasks, and the table `prices`."""

    in_memory: bool = False
    now: float = 100.0
    contained: dict[str, dict[Partition, int]] = field(default_factory=dict)
    sharing: Sharing = field(init=False)

    def __post_init__(self) -> None:
        table = SharedTable("prices", (A, B), self.in_memory)
        self.sharing = Sharing((table,), clock=lambda: self.now)
        self.sharing.forget(LANES, {})

    def located(self, **locations: str) -> None:
        tasks = {"p0": "t0", "p1": "t1"}
        self.hear(*(Report(tasks[p], "committed", location=place) for p, place in locations.items()))

    def hear(self, *reports: Report) -> None:
        self.sharing.hear(reports, self.contained)

    def contains(self, task: str, **positions: int) -> None:
        self.contained[task] = {A: positions["a"], B: positions["b"]}

    def orders(self, version: str = "1-1") -> dict[str, SharedOrder]:
        return {name: one for name, (one,) in self.sharing.orders(version, ENDS, self.contained).items()}

    def publishes(self, version: str) -> None:
        """Each lane that was told to makes its version."""
        for name, order in self.orders(version).items():
            if order.makes:
                self.hear(Report(LANES[name][0], "committed", published={"prices": order.makes}))

    @property
    def waiting(self) -> set[str]:
        return set(self.sharing.waiting(ENDS, self.contained))

    @property
    def pressing(self) -> bool:
        return self.sharing.pressing(ENDS, self.contained)


def test_one_lane_of_a_location_fills_the_table_in_the_name_of_its_first_task() -> None:
    driver = Driver()
    driver.located(p0="here", p1="here")
    assert driver.sharing.hosts() == {"t0": [A, B]}
    assert {name: order.fills for name, order in driver.orders().items()} == {"p0": True, "p1": False}


def test_lanes_on_two_locations_fill_two_tables() -> None:
    driver = Driver()
    driver.located(p0="here", p1="there")
    assert driver.sharing.hosts() == {"t0": [A, B], "t1": [A, B]}


def test_each_lane_fills_a_table_in_memory_for_itself() -> None:
    driver = Driver(in_memory=True)
    driver.located(p0="here", p1="here")
    assert driver.sharing.hosts() == {"t0": [A, B], "t1": [A, B]}
    driver.contains("t0", a=3, b=0)
    driver.contains("t1", a=2, b=0)
    assert driver.waiting == {"t1"}
    assert not any(order.makes for order in driver.orders().values())


def test_nothing_is_filled_before_all_lanes_have_said_where_they_are() -> None:
    driver = Driver()
    driver.located(p0="here")
    assert driver.sharing.hosts() == {}
    assert driver.orders() == {}
    assert driver.pressing


def test_all_tasks_of_the_location_wait_for_a_version_that_contains_what_they_have_to_see() -> None:
    driver = Driver()
    driver.located(p0="here", p1="here")
    driver.contains("t0", a=2, b=0)
    assert driver.waiting == {"t0", "t1", "t2"}
    assert not driver.pressing  # there is more to read first
    driver.contains("t0", a=3, b=0)
    assert driver.waiting == {"t0", "t1", "t2"}
    assert driver.pressing
    driver.publishes("1-7")
    assert driver.waiting == set()
    assert {order.version for order in driver.orders().values()} == {"1-7"}


def test_a_table_that_changed_is_copied_again_but_not_at_once() -> None:
    driver = Driver()
    driver.located(p0="here", p1="here")
    driver.contains("t0", a=3, b=0)
    driver.publishes("1-7")
    driver.contains("t0", a=4, b=0)
    assert not driver.pressing
    driver.now += LEAST_SECONDS
    assert driver.pressing
    driver.publishes("1-9")
    assert {order.version for order in driver.orders().values()} == {"1-9"}
    driver.now += LEAST_SECONDS
    assert not driver.pressing


def test_a_copy_that_takes_long_is_made_seldom() -> None:
    driver = Driver()
    driver.located(p0="here", p1="here")
    driver.contains("t0", a=3, b=0)
    (order,) = (one for one in driver.orders("1-7").values() if one.makes)
    driver.now += 2.0
    driver.hear(Report("t0", "committed", published={"prices": order.makes}))
    driver.contains("t0", a=4, b=0)
    driver.now += 19.0
    assert not driver.pressing
    driver.now += 1.0
    assert driver.pressing


def test_when_the_writer_is_gone_another_lane_of_its_location_takes_over() -> None:
    driver = Driver()
    driver.located(p0="here", p1="here")
    driver.sharing.forget({"p1": ("t1", "t0", "t2")}, {})
    driver.located(p1="here")
    assert driver.sharing.hosts() == {"t1": [A, B]}


@pytest.mark.parametrize("in_memory", [False, True])
def test_after_a_loss_rows_wait_until_the_table_contains_what_rows_before_have_seen(in_memory: bool) -> None:
    driver = Driver(in_memory)
    driver.located(p0="here", p1="here")
    for task in ("t0", "t1"):
        driver.contains(task, a=5, b=0)
    driver.publishes("1-7")
    driver.sharing.forget(LANES, driver.contained)
    driver.contained = {}
    driver.located(p0="here", p1="here")
    for task in ("t0", "t1"):
        driver.contains(task, a=4, b=0)
    assert driver.waiting == {"t0", "t1", "t2"}
    for task in ("t0", "t1"):
        driver.contains(task, a=5, b=0)
    driver.publishes("2-1")
    assert driver.waiting == set()


def test_an_app_without_broadcast_tables_waits_for_nothing() -> None:
    sharing = Sharing(())
    sharing.forget(LANES, {})
    assert not sharing.pressing(ENDS, {})
    assert set(sharing.waiting(ENDS, {})) == set()
    assert sharing.hosts() == {}
