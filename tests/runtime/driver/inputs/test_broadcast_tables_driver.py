"""Who fills a broadcast table, and which version of it every lane reads."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pytest

from streamapp.tasks.partition import Partition
from streamapp_runtime.driver.inputs.broadcast_tables import LEAST_SECONDS, BroadcastTable, BroadcastTables
from streamapp_runtime.driver.inputs.fill_progress import FillProgress
from streamapp_runtime.driver.inputs.read_scheduling import PendingRange
from streamapp_runtime.lanes.protocol.batch_orders import BroadcastOrder
from streamapp_runtime.lanes.protocol.task_report import TaskReport
from streamapp_runtime.lanes.protocol.task_status import TaskStatus

A, B = Partition("rates>prices", 0), Partition("rates>prices", 1)
LANES = {"p0": ("t0", "t2"), "p1": ("t1",), "idle": ()}
ENDS = {A: 3, B: 0}


@dataclass
class Driver:
    """A driver with two lanes that have tasks, and the table `prices`."""

    in_memory: bool = False
    versions: bool = False
    before_join: bool = False
    ends: Mapping[Partition, int] = field(default_factory=lambda: ENDS)
    now: float = 100.0
    contained: dict[str, dict[Partition, int]] = field(default_factory=dict)
    held: dict[str, list[str]] = field(default_factory=dict)
    sharing: BroadcastTables = field(init=False)

    def __post_init__(self) -> None:
        table = BroadcastTable("prices", (A, B), self.in_memory, self.versions, self.before_join)
        self.sharing = BroadcastTables((table,), clock=lambda: self.now)
        self.sharing.forget(LANES, {})

    def located(self, **locations: str) -> None:
        tasks = {"p0": "t0", "p1": "t1"}
        self.note(
            *(TaskReport(tasks[p], TaskStatus.COMMITTED, location=place) for p, place in locations.items())
        )

    def note(self, *reports: TaskReport) -> None:
        self.sharing.note(reports, self.contained)

    def contains(self, task: str, **positions: int) -> None:
        self.contained[task] = {A: positions["a"], B: positions["b"]}

    def orders(
        self, version: str = "1-1", *given: PendingRange, lanes: Collection[str] = LANES
    ) -> dict[str, BroadcastOrder]:
        idle_lanes = [name for name in lanes if name in self.sharing.lanes]
        orders = self.sharing.orders(idle_lanes, version, self.filled, given)
        return {name: one for name, (one,) in orders.items()}

    def publishes(self, version: str) -> None:
        """Each lane that was told to makes its version."""
        for name, order in self.orders(version).items():
            if order.makes:
                self.note(TaskReport(LANES[name][0], TaskStatus.COMMITTED, published={"prices": order.makes}))

    @property
    def filled(self) -> FillProgress:
        return FillProgress(self.ends, self.contained, self.held)

    @property
    def waiting(self) -> set[str]:
        return set(self.sharing.waiting(self.filled))

    @property
    def pressing(self) -> bool:
        return self.sharing.pressing(self.filled)


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


@pytest.mark.parametrize("in_memory", [False, True])
def test_of_the_lanes_that_fill_tables_one_sets_bad_records_aside_while_it_is_there(in_memory: bool) -> None:
    driver = Driver(in_memory)
    assert driver.sharing.sets_aside == ""
    driver.located(p0="here", p1="there")
    assert driver.sharing.sets_aside == "t0"
    driver.sharing.follow({"p1": ("t1",)}, {})
    assert driver.sharing.sets_aside == "t1"
    driver.sharing.follow(LANES, {})
    driver.located(p0="here")
    assert driver.sharing.sets_aside == "t1"


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


def test_where_copies_are_not_paced_a_table_that_changed_is_copied_at_once() -> None:
    driver = Driver()
    driver.sharing.paced = False
    driver.located(p0="here", p1="here")
    driver.contains("t0", a=3, b=0)
    driver.publishes("1-7")
    assert not driver.pressing
    driver.contains("t0", a=4, b=0)
    assert driver.pressing
    driver.publishes("1-8")
    assert {order.version for order in driver.orders().values()} == {"1-8"}


def test_a_copy_that_takes_long_is_made_seldom() -> None:
    driver = Driver()
    driver.located(p0="here", p1="here")
    driver.contains("t0", a=3, b=0)
    (order,) = (one for one in driver.orders("1-7").values() if one.makes)
    driver.now += 2.0
    driver.note(TaskReport("t0", TaskStatus.COMMITTED, published={"prices": order.makes}))
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
    sharing = BroadcastTables(())
    sharing.forget(LANES, {})
    assert not sharing.pressing(FillProgress(ENDS, {}))
    assert set(sharing.waiting(FillProgress(ENDS, {}))) == set()
    assert sharing.hosts() == {}


SIDE = A.stream


def test_a_version_of_the_rows_own_is_left_to_the_lane_that_fills_to_make() -> None:
    driver = Driver(versions=True)
    driver.located(p0="here", p1="here")
    assert {name: order.makes for name, order in driver.orders("1-7").items()} == {"p0": "1-7", "p1": ""}
    driver.contains("t0", a=9, b=0)
    assert driver.orders("1-8")["p0"].makes == "1-8"


@pytest.mark.parametrize("in_memory", [False, True])
def test_rows_of_all_tasks_wait_until_the_first_of_the_rows_versions_is_whole(in_memory: bool) -> None:
    driver = Driver(in_memory, versions=True)
    driver.located(p0="here", p1="here")
    for task in ("t0", "t1"):
        driver.contains(task, a=5, b=0)
        driver.held[task] = [SIDE]
    assert driver.waiting == {"t0", "t1", "t2"}
    assert not driver.pressing
    driver.held = {}
    driver.publishes("1-7")
    assert driver.waiting == set()


def test_without_bootstrap_rows_go_on_before_there_is_a_whole_version() -> None:
    driver = Driver(versions=True, ends={})
    driver.located(p0="here", p1="here")
    assert driver.waiting == {"t0", "t1", "t2"}
    driver.contains("t0", a=5, b=0)
    driver.held["t0"] = [SIDE]
    assert driver.waiting == set()


def test_a_whole_version_that_nobody_knows_of_any_more_is_pressed_for() -> None:
    driver = Driver(versions=True)
    driver.located(p0="here", p1="here")
    driver.contains("t0", a=5, b=0)
    assert driver.pressing
    assert driver.waiting == {"t0", "t1", "t2"}
    driver.publishes("1-7")
    assert not driver.pressing


def test_a_partition_that_is_ahead_of_its_version_keeps_no_rows_waiting() -> None:
    driver = Driver(versions=True)
    driver.located(p0="here", p1="here")
    driver.contains("t0", a=2, b=0)
    driver.publishes("1-7")
    assert driver.waiting == {"t0", "t1", "t2"}
    driver.held["t0"] = [str(A)]
    assert driver.waiting == set()


def test_where_joins_see_their_own_batch_the_batch_that_fills_makes_the_version() -> None:
    driver = Driver(before_join=True)
    driver.located(p0="here", p1="here")
    driver.contains("t0", a=3, b=0)
    driver.publishes("1-7")
    given = PendingRange("t0", A, 3, 8)
    assert {name: order.makes for name, order in driver.orders("1-8", given).items()} == {
        "p0": "1-8",
        "p1": "",
    }
    driver.contains("t0", a=8, b=0)
    assert driver.waiting == {"t0", "t1", "t2"}
    assert driver.pressing
    driver.publishes("1-9")
    assert driver.waiting == set()


def test_tasks_of_another_location_do_not_take_turns_with_a_table_that_they_do_not_see() -> None:
    driver = Driver(before_join=True)
    driver.located(p0="here", p1="there")
    stores = driver.sharing.stores()
    assert {host: store.seen_by for host, store in stores.items()} == {
        "t0": frozenset({"t0", "t2"}),
        "t1": frozenset({"t1"}),
    }


def test_a_version_is_kept_until_every_lane_of_the_location_has_an_order_for_another_one() -> None:
    driver = Driver()
    driver.located(p0="here", p1="here")
    driver.contains("t0", a=3, b=0)
    driver.publishes("1-7")
    assert {name: order.version for name, order in driver.orders("1-8").items()} == dict.fromkeys(
        ("p0", "p1"), "1-7"
    )
    driver.contains("t0", a=4, b=0)
    driver.now += LEAST_SECONDS
    (order,) = driver.orders("1-9", lanes=["p0"]).values()  # p1 is still at its batch
    assert order.makes == "1-9"
    driver.note(TaskReport("t0", TaskStatus.COMMITTED, published={"prices": "1-9"}))
    for batch in ("1-10", "1-11"):
        (order,) = driver.orders(batch, lanes=["p0"]).values()
        assert (order.version, order.keeps) == ("1-9", ("1-7",))
    orders = driver.orders("1-12")
    assert orders["p0"].keeps == ("1-7",), "p1 may have found its order, and may not"
    assert (orders["p1"].version, orders["p1"].keeps) == ("1-9", ())
    assert driver.orders("1-13")["p0"].keeps == ()


def test_a_version_that_only_a_lane_of_another_location_reads_is_not_kept() -> None:
    driver = Driver()
    driver.located(p0="here", p1="there")
    for task in ("t0", "t1"):
        driver.contains(task, a=3, b=0)
    driver.publishes("1-7")
    driver.orders("1-8")
    driver.contains("t0", a=4, b=0)
    driver.now += LEAST_SECONDS
    (order,) = driver.orders("1-9", lanes=["p0"]).values()
    driver.note(TaskReport("t0", TaskStatus.COMMITTED, published={"prices": order.makes}))
    driver.orders("1-10", lanes=["p0"])
    (order,) = driver.orders("1-11", lanes=["p0"]).values()
    assert (order.version, order.keeps) == ("1-9", ())


def test_lanes_that_are_at_a_batch_press_for_none() -> None:
    driver = Driver()
    assert driver.sharing.pressing(driver.filled, {"t0"}), "nobody knows where p1 is"
    driver.located(p1="here")
    assert not driver.sharing.pressing(driver.filled, {"t0", "t2"})
    assert driver.orders() == {}, "p0 may be who has filled the table"
    driver.located(p0="here")
    assert driver.pressing
    assert not driver.sharing.pressing(driver.filled, {"t0", "t2"})


def test_a_lane_that_comes_to_those_that_work_reads_the_version_that_is_there() -> None:
    driver = Driver()
    driver.sharing.forget({"p0": LANES["p0"]}, {})
    driver.located(p0="here")
    driver.contains("t0", a=3, b=0)
    driver.publishes("1-7")
    assert driver.sharing.follow(LANES, driver.contained)
    assert driver.waiting == {"t1"}, "others go on"
    assert driver.orders().keys() == {"p0"}
    driver.located(p1="here")
    assert driver.waiting == set()
    assert driver.orders()["p1"].version == "1-7"
    assert not driver.sharing.follow(LANES, driver.contained)


def test_a_lane_that_goes_alone_leaves_the_table_to_another_one() -> None:
    driver = Driver()
    driver.located(p0="here", p1="here")
    driver.contains("t0", a=3, b=0)
    driver.publishes("1-7")
    assert driver.sharing.follow({"p1": LANES["p1"]}, driver.contained)
    assert driver.sharing.hosts() == {"t1": [A, B]}
    assert driver.waiting == set(), "the version that it made is there"
    assert driver.orders()["p1"] == BroadcastOrder("prices", fills=True, version="1-7")
    assert driver.pressing, "its store has not said what it contains"
    driver.contains("t1", a=3, b=0)
    assert not driver.pressing


def test_while_the_lane_that_fills_is_at_a_batch_others_read_the_copy_that_is_there() -> None:
    driver = Driver()
    driver.located(p0="here", p1="here")
    driver.contains("t0", a=3, b=0)
    driver.publishes("1-7")
    driver.orders("1-8", lanes=["p0"])
    assert driver.waiting == set()
    (order,) = driver.orders("1-9", lanes=["p1"]).values()
    assert order == BroadcastOrder("prices", fills=False, version="1-7")
