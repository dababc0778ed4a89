"""The pictures of the page of all apps, for the documentation: apps that are made up here.

`python -m tests.harness.repository.apps_page_picture` takes them.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from playwright.sync_api import Page, expect

from streamapp_operator.controller.watch.object_cache import ObjectCache
from tests.harness.operator.overview_apps import (
    apps_page_served,
    condition,
    overview_app,
    overview_cache,
    overview_report,
)
from tests.harness.repository.page_pictures import take_pictures


def _ago(**time: float) -> str:
    return (datetime.now(UTC) - timedelta(**time)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _ready(**time: float) -> dict[str, Any]:
    return condition("Ready", "True", "Running", "the driver makes batches", _ago(**time))


def _cache() -> ObjectCache:
    mismatch = (
        "operators[2]: the join of views (8 partitions) and users (16 partitions) cannot find all pairs:"
        " repartition one of them"
    )
    killed = "processor-1 on node-2 was killed for its memory: 2 of 8 tasks moved"
    running = [
        overview_app("page-views", "Running", _ready(days=12), page={"enabled": True}),
        overview_app("country-views", "Running", _ready(hours=30)),
        overview_app(
            "enrichment",
            "Running",
            condition("Degraded", "True", "OutOfMemory", killed, _ago(minutes=2)),
            _ready(days=3),
            reason="OutOfMemory",
            restarts=1,
            page={"enabled": True},
        ),
    ]
    fraud = overview_app(
        "fraud",
        "Rejected",
        condition("Accepted", "False", "JoinPartitionMismatch", mismatch, _ago(minutes=41)),
        condition("Ready", "False", "NotAccepted", "there is no driver", _ago(minutes=41)),
        condition("Stalled", "True", "JoinPartitionMismatch", mismatch, _ago(minutes=41)),
        reason="JoinPartitionMismatch",
        namespace="risk",
        driver=False,
    )
    sessions = overview_app(
        "sessions",
        "Launching",
        condition("Ready", "False", "DriverStarting", "no batch has ended yet", _ago(seconds=9)),
        reason="DriverStarting",
        namespace="risk",
    )
    nightly = overview_app(
        "nightly-report",
        "Completed",
        condition("Ready", "False", "Completed", "all streams have ended", _ago(hours=7)),
        reason="Completed",
        namespace="risk",
        driver=False,
    )
    lags = (300, 12, 41_000)
    reports = [
        overview_report(app, lag, _ago(seconds=4 + lag % 7)) for app, lag in zip(running, lags, strict=True)
    ]
    return overview_cache(*running, fraud, sessions, nightly, *reports)


def take() -> None:
    """One picture in light and one in dark."""

    def prepare(page: Page) -> None:
        page.locator("#apps tbody tr", has_text="enrichment").click()
        expect(page.locator("#conditions tbody tr")).to_have_count(10)
        page.mouse.move(0, 0)

    with apps_page_served(_cache()) as url:
        take_pictures(url, "apps-page", height=420, prepare=prepare)


if __name__ == "__main__":
    take()
