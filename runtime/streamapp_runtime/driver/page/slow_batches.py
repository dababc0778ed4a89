"""The work that takes most of the time of slow batches, where that can be named."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Final

from streamapp.plan.render.wording import legible, listed
from streamapp.protocol.page_wait import Wait, WaitKind
from streamapp_runtime.driver.page.run_facts import BatchFacts, RemoteCounts, RunFacts
from streamapp_runtime.driver.page.running_app import RunningApp
from streamapp_runtime.lanes.batches.step_times import QUOTA_STEP

FEW_RECORDS: Final = 1_000
"""A lag of fewer records is no matter."""
SECONDS_OF_LAG: Final = 10
"""Nor is one that is read in less than that."""
LONG_BATCH_SECONDS: Final = 10.0
"""Batches of an app that keeps up are slow from here on: its rows are as late as with a lag that is named."""
FEWEST_BATCHES: Final = 3
"""The first batches open stores, import the app's code and compile expressions: one or two say nothing."""
RECENT_SECONDS: Final = 300.0
"""An app at rest is not slow, whatever it was before. A batch of minutes is told of while it runs."""
MOST_OF_BATCH: Final = 0.5
"""Without what takes a smaller share, a batch would still take more than half as long."""


def is_behind(facts: RunFacts) -> bool:
    """True if so many records are not yet read that it matters."""
    lag = sum(facts.last.task_lags.values()) if facts.last else 0
    return lag >= max(FEW_RECORDS, SECONDS_OF_LAG * sum(facts.task_rates.values()))


def slow_batches(facts: RunFacts) -> Iterator[Wait]:
    """The work that takes most of each batch, while the app is behind or its batches take long.

    It is what somebody can change: a quota, a remote table, the app's own code, or expressions that Spark
    evaluates.
    """
    batches = _recent_batches(facts)
    if facts.app is None or len(batches) < FEWEST_BATCHES:
        return
    if not is_behind(facts) and median(batch.seconds for batch in batches) < LONG_BATCH_SECONDS:
        return
    steps = _step_seconds(batches)
    total = sum(batch.seconds for batch in batches)
    quotas = {step: seconds for step, seconds in steps.items() if step.startswith(QUOTA_STEP)}
    if sum(quotas.values()) >= MOST_OF_BATCH * total:  # which lie within other steps
        systems = listed([legible(step.removeprefix(QUOTA_STEP)) for step in sorted(quotas)], len(quotas))
        share = _share(sum(quotas.values()), batches)
        yield Wait(WaitKind.SLOW_QUOTA, f"to wait for quotas of the brokers of {systems} takes {share}")
        return
    step, seconds = max(steps.items(), key=lambda item: item[1], default=("", 0.0))
    if seconds >= MOST_OF_BATCH * total:
        yield from _slow_step(facts.app, facts, step, _share(seconds, batches))


def step_shares(facts: RunFacts) -> dict[str, float]:
    """The part of the time of recent batches that each step took, in its slowest lane."""
    batches = _recent_batches(facts)
    total = sum(batch.seconds for batch in batches)
    return {step: seconds / total for step, seconds in _step_seconds(batches).items()} if total else {}


def _recent_batches(facts: RunFacts) -> list[BatchFacts]:
    return [batch for batch in facts.batches if batch.rows_in and facts.now - batch.at < RECENT_SECONDS]


def _step_seconds(batches: Iterable[BatchFacts]) -> Mapping[str, float]:
    steps: defaultdict[str, float] = defaultdict(float)
    for batch in batches:
        for step, seconds in batch.steps:
            steps[step] += seconds
    return steps


def _slow_step(app: RunningApp, facts: RunFacts, step: str, share: str) -> Iterator[Wait]:
    tables = app.lookups.get(step, ())
    asked = "".join(_asked(table, facts.remote.get(table, RemoteCounts())) for table in tables)
    if step in app.own_code:
        yield Wait(WaitKind.SLOW_CODE, f"the app's own code in {legible(step)} takes {share}{asked}")
    elif tables:
        yield Wait(WaitKind.SLOW_REMOTE_TABLE, f"{legible(step)} takes {share}{asked}")
    elif step in app.evaluated:
        expressions = f"the expressions of {legible(step)}, which Spark evaluates"
        yield Wait(WaitKind.SLOW_EXPRESSIONS, f"{expressions}, take {share}")


def _asked(table: str, counts: RemoteCounts) -> str:
    return (
        f"; it has asked the remote table {legible(table)} for {counts.asked:,} keys, and its cache knew"
        f" {counts.cached:,}"
    )


def _share(seconds: float, batches: Sequence[BatchFacts]) -> str:
    total = sum(batch.seconds for batch in batches)
    return f"{seconds * 100 / total:.0f} % of each batch, which takes {total / len(batches):.1f} s on average"
