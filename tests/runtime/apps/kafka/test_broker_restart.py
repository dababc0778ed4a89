"""A broker that is killed and comes back while an app runs: the app waits, and every view is written once."""

from pathlib import Path

import pytest

from tests.harness.kafka.broker import Broker
from tests.harness.runs.page_views_run import PageViews


@pytest.mark.long
def test_an_app_outlives_its_broker(broker: Broker, tmp_path: Path) -> None:
    app = PageViews(broker.bootstrap, "outlives", tmp_path / "app")
    app.prepare()
    app.view(1_000)
    app.start()
    try:
        app.until(lambda: app.size() == len(app.expected()))
        broker.kill()
        app.until(lambda: app.said().count("tried again") > 1)
        broker.start()
        app.view(1_000)
        app.until(lambda: app.size() == len(app.expected()))
        app.checked()
    finally:
        app.kill()
