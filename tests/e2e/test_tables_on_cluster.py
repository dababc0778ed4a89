"""An app on the cluster writes into PostgreSQL and Iceberg, and its driver is killed meanwhile."""

import json
from collections import Counter

import pytest

from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT
from tests.harness.cluster.app_on_cluster import RunningApp
from tests.harness.cluster.app_traffic import Traffic
from tests.harness.cluster.cluster_faults import kill_driver
from tests.harness.cluster.cluster_tables import iceberg_rows, start_tables, totals
from tests.harness.cluster.kind_cluster import Cluster
from tests.harness.cluster.waiting import until
from tests.harness.crash.view_feeder import known_users
from tests.harness.crash.view_model import model

APP = "tables"


@pytest.fixture(scope="module")
def app(kind: Cluster, new_space: NewSpace) -> RunningApp:
    start_tables(kind)
    running = RunningApp(new_space(APP), Traffic(APP))
    running.traffic.begin()
    running.space.play("tables/01")
    return running


def test_rows_and_totals_are_in_the_tables_once(app: RunningApp) -> None:
    app.traffic.view()
    until(lambda: _wrong(app), LIMIT)


def test_each_row_is_there_once_after_the_driver_was_killed(app: RunningApp) -> None:
    former = app.space.driver(APP)
    app.traffic.view()
    kill_driver(app.space)
    app.traffic.view()
    until(lambda: _wrong(app), LIMIT)
    assert app.report().driver != former


def _wrong(app: RunningApp) -> list[str]:
    """Everything in which the tables are not what they have to be."""
    expected, cluster = model(known_users(), app.traffic.views), app.space.cluster
    rows = Counter(json.dumps(row, sort_keys=True) for row in iceberg_rows(cluster))
    last = {user: (len(sums) - 1, sums[-1]) for user, sums in expected.totals.items()}
    return [
        *(f"lost: {row}" for row in expected.enriched - rows),
        *(f"too often: {row}" for row in rows - expected.enriched),
        *(f"{user}: {one}" for user, one in sorted(last.items() ^ totals(cluster).items())),
    ]
