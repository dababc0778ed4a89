"""A short soak: an app with joins, windows and tables under load, one of whose executors is lost."""

from pathlib import Path

import pytest

from tests.harness.soak.app_soak import AppSoak

SECONDS, RATE = 120.0, 300


@pytest.mark.nightly
@pytest.mark.usefixtures("kafka_jars")
def test_a_soaked_app_that_loses_an_executor_writes_what_a_model_says(tmp_path: Path) -> None:
    """What grows, an hour says: in two minutes heaps and caches still fill."""
    result = AppSoak(tmp_path, print, RATE, losses=1).run(SECONDS)
    assert not result.differences
    kinds = {figure.kind for figure in result.figures}
    assert kinds >= {"driver", "jvm", "executor", "worker", "broker", "enriched"}
    assert any(figure.name == "log" for figure in result.figures)
    assert any(figure.name == "entries" for figure in result.figures)
