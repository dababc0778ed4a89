"""One of two brokers is killed while an app runs: the other leads all, and every view is written once."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.kafka.broker import Broker
from tests.harness.runs.page_views_run import PageViews

EACH_ON_BOTH = {"default.replication.factor": "2", "transaction.state.log.replication.factor": "2"}


@pytest.fixture
def both(kafka_jars: Path, tmp_path: Path) -> Iterator[tuple[Broker, Broker]]:
    """The one that keeps the cluster together, and the one that may go."""
    keeps = Broker(tmp_path / "keeps", EACH_ON_BOTH)
    goes = Broker(tmp_path / "goes", EACH_ON_BOTH, joins=keeps)
    keeps.start()
    goes.start()
    yield keeps, goes
    goes.kill()  # it would wait for the other one
    keeps.stop()


@pytest.mark.long
def test_an_app_goes_on_while_one_of_two_brokers_is_gone_and_when_it_is_back(
    both: tuple[Broker, Broker], tmp_path: Path
) -> None:
    keeps, goes = both
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
