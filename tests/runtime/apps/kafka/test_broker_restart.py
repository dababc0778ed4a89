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
        app.until(lambda: "out of reach" in app.said())
        broker.start()
        app.view(1_000)
        app.until(lambda: app.size() == len(app.expected()))
        app.until(lambda: "answers again" in app.said())
        app.checked()
        assert app.said().count("out of reach") == app.said().count("answers again") == 1
        assert "tried again" not in app.said()
    finally:
        app.kill()
