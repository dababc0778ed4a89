"""An app over two brokers, one of which is its home: rows go into both, and the other one may be away."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.conftest import NewSpace
from tests.harness.cluster.app_namespace import LIMIT
from tests.harness.cluster.app_on_cluster import RunningApp
from tests.harness.cluster.app_traffic import BROKER, OTHER_BROKER, Traffic, topics_anew
from tests.harness.cluster.cluster_broker import other_broker_away, start_other_broker
from tests.harness.cluster.cluster_faults import kill_driver
from tests.harness.cluster.kind_cluster import Cluster
from tests.harness.cluster.waiting import until
from tests.harness.crash.view_feeder import known_users
from tests.harness.crash.view_model import Model, differences, model
from tests.harness.kafka.topic_records import committed

APP = "two-clusters"
STREAMAPP = str(Path(sys.executable).with_name("streamapp"))


@pytest.fixture(scope="module")
def app(kind: Cluster, new_space: NewSpace) -> RunningApp:
    start_other_broker(kind)
    running = RunningApp(new_space(APP), Traffic(APP, frozenset({"shop-views", "enriched"})))
    running.traffic.begin()
    topics_anew(APP, {"shop-views": 4}, OTHER_BROKER)
    running.space.play("two-clusters/01")
    return running


def test_rows_of_both_clusters_come_out_in_each(app: RunningApp) -> None:
    _goes_on_in_both(app)


def test_each_row_is_once_in_both_after_the_driver_was_killed(app: RunningApp) -> None:
    former = app.space.driver(APP)
    app.traffic.view(stream="shop-views")
    kill_driver(app.space)
    _goes_on_in_both(app)
    assert app.report().driver != former


def test_what_is_of_the_home_goes_on_while_the_other_cluster_is_away_and_its_rows_come_later(
    app: RunningApp,
) -> None:
    with other_broker_away(app.space.cluster):
        for _ in range(3):
            app.traffic.view()
            until(lambda: _wrong_totals(app.traffic), LIMIT)
        app.space.looks_like("two-clusters/02-assert")
        away = "the system shop does not answer, and nothing is read of shop-views"
        assert away in app.space.condition(APP, "Degraded")["message"]
        words = _why(app)
        assert away in words
        assert "records for shop wait in the outbox" in words
    until(app.traffic.wrong, LIMIT)
    app.space.looks_like("two-clusters/01-assert")
    _goes_on_in_both(app)


def _goes_on_in_both(app: RunningApp) -> None:
    """More views come in one cluster after the other, since totals have the order of a user's views."""
    for stream in ("shop-views", "views"):
        until(app.traffic.wrong, LIMIT)
        app.traffic.view(stream=stream)
    until(app.traffic.wrong, LIMIT)


def _wrong_totals(traffic: Traffic) -> list[str]:
    """Everything in which the output at home is not what it has to be."""
    totals = model(known_users(), traffic.views).totals
    return list(differences(Model(Counter(), totals), [], committed(BROKER, traffic.topic("totals"))))


def _why(app: RunningApp) -> str:
    kubeconfig = str(app.space.cluster.kubeconfig)
    asked = app.space.cluster.programs.tried(STREAMAPP, "why", APP, "-n", APP, "--kubeconfig", kubeconfig)
    assert asked.returncode == 1, asked.stderr
    return asked.stdout
