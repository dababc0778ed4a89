"""One of two brokers is killed while an app runs: the other leads all, and every view is written once."""

from pathlib import Path

import pytest

from tests.harness.kafka.broker import Broker
from tests.harness.runs.page_views_run import PageViews


@pytest.mark.long
def test_an_app_goes_on_while_one_of_two_brokers_is_gone_and_when_it_is_back(
    two_brokers: tuple[Broker, Broker], tmp_path: Path
) -> None:
    keeps, goes = two_brokers
    app = PageViews(f"{goes.bootstrap},{keeps.bootstrap}", "several", tmp_path / "app")
    app.prepare()
    app.view(1_000)
    app.start()
    try:
        app.until(lambda: app.size() == len(app.expected()))
        goes.kill()
        app.view(1_000)
        app.until(lambda: app.size() == len(app.expected()))
        goes.start()
        app.view(1_000)
        app.until(lambda: app.size() == len(app.expected()))
        app.checked()
    finally:
        app.kill()
