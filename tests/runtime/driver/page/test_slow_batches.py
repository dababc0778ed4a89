"""What makes batches slow is named where somebody can change it, and an app that is well has nothing."""

from dataclasses import replace

import pytest

from streamapp.protocol.page_wait import Wait, WaitKind
from streamapp_runtime.driver.page.run_facts import BatchFacts, RemoteCounts, RunFacts
from streamapp_runtime.driver.page.running_app import RunningApp
from streamapp_runtime.driver.page.slow_batches import LONG_BATCH_SECONDS, RECENT_SECONDS, slow_batches
from tests.harness.engine.batch_results import batch
from tests.harness.engine.watched_pages import BEGAN, running
from tests.harness.graphs.shop_apps import shop

APP = replace(
    running(shop(3)),
    lookups={"joined": ("far",), "scored": (), "checked": ("far",)},
    own_code=frozenset({"scored", "checked"}),
    evaluated=frozenset({"few"}),
)
FEW = replace(batch(), task_lags={"Partition 0": 999})
MANY = replace(batch(), task_lags={"Partition 0": 600, "Partition 1": 600})


def facts(
    *steps: tuple[str, float],
    seconds: float = LONG_BATCH_SECONDS,
    app: RunningApp | None = APP,
    count: int = 3,
    rows: int = 10,
    behind: bool = False,
    ago: float = 0.0,
) -> RunFacts:
    """A run whose last batches are all alike."""
    one = BatchFacts(1, BEGAN - ago, seconds, rows, rows, steps)
    return RunFacts(
        now=BEGAN,
        started=BEGAN - 1_000,
        app=app,
        last=MANY if behind else FEW,
        batches=(one,) * count,
        remote={"far": RemoteCounts(asked=12_000, cached=300)},
    )


def test_a_remote_table_that_takes_most_of_each_batch_is_named_with_what_it_was_asked() -> None:
    assert list(slow_batches(facts(("joined", 6.0), ("read", 3.9)))) == [
        Wait(
            WaitKind.SLOW_REMOTE_TABLE,
            "joined takes 60 % of each batch, which takes 10.0 s on average; it has asked the remote table"
            " far for 12,000 keys, and its cache knew 300",
        )
    ]


def test_a_quota_is_named_though_it_lies_within_other_steps() -> None:
    assert list(slow_batches(facts(("quota of kafka", 6.0), ("read", 9.0)))) == [
        Wait(
            WaitKind.SLOW_QUOTA,
            "to wait for quotas of the brokers of kafka takes 60 % of each batch, which takes 10.0 s on"
            " average",
        )
    ]


def test_own_code_is_named_also_where_it_looks_up_a_remote_table_itself() -> None:
    (scored,) = slow_batches(facts(("scored", 6.0)))
    assert scored == Wait(
        WaitKind.SLOW_CODE,
        "the app's own code in scored takes 60 % of each batch, which takes 10.0 s on average",
    )
    (checked,) = slow_batches(facts(("checked", 6.0)))
    assert checked.kind == WaitKind.SLOW_CODE
    assert checked.text.endswith("the remote table far for 12,000 keys, and its cache knew 300")


def test_expressions_that_spark_evaluates_are_named() -> None:
    assert list(slow_batches(facts(("few", 6.0), ("read", 1.0)))) == [
        Wait(
            WaitKind.SLOW_EXPRESSIONS,
            "the expressions of few, which Spark evaluates, take 60 % of each batch, which takes 10.0 s on"
            " average",
        )
    ]
    assert list(slow_batches(facts(("read", 2.0), ("commit", 1.0)))) == []


def test_short_batches_are_slow_only_while_the_app_is_behind() -> None:
    assert list(slow_batches(facts(("joined", 0.6), seconds=1.0))) == []
    assert len(list(slow_batches(facts(("joined", 0.6), seconds=1.0, behind=True)))) == 1
    is_quick = replace(facts(("joined", 0.6), seconds=1.0, behind=True), task_rates={"Partition 0": 121.0})
    assert list(slow_batches(is_quick)) == []  # what is there is read in less than ten seconds


@pytest.mark.parametrize(
    "healthy",
    [
        RunFacts(BEGAN, BEGAN),
        facts(("joined", 6.0), app=None),
        facts(("joined", 9.9), seconds=LONG_BATCH_SECONDS - 0.1),
        facts(("joined", 10.0), count=2),
        facts(("joined", 10.0), rows=0),
        facts(("joined", 10.0), ago=RECENT_SECONDS),
        facts(("joined", 4.9), ("commit", 4.8)),
        facts(("commit", 6.0), ("joined", 1.0)),
        facts(),  # no lane told of its steps, as where all of them failed
    ],
)
def test_an_app_that_is_well_or_whose_slowness_has_no_name_has_none(healthy: RunFacts) -> None:
    assert list(slow_batches(healthy)) == []


def test_a_single_batch_that_takes_long_makes_no_app_slow() -> None:
    quick = facts(("joined", 1.0), seconds=1.1, count=2)
    once = replace(quick, batches=(*quick.batches, *facts(("joined", 60.0), seconds=61.0, count=1).batches))
    assert list(slow_batches(once)) == []
