"""A short soak: an app with joins, windows and tables under load, one of whose executors is lost."""

from pathlib import Path

import pytest

from tests.harness.soak.app_soak import AppSoak

SECONDS, RATE = 120.0, 300
LENIENCE = 30.0
"""By how much more than in an hour's soak a figure may grow: caches and heaps still fill."""


@pytest.mark.long
@pytest.mark.usefixtures("kafka_jars")
def test_a_soaked_app_that_loses_an_executor_writes_what_a_model_says_and_grows_within_bounds(
    tmp_path: Path,
) -> None:
    result = AppSoak(tmp_path, print, RATE, losses=1, lenience=LENIENCE).run(SECONDS)
    assert not result.differences
    assert [str(figure) for figure in result.figures if figure.grows] == []
    kinds = {figure.kind for figure in result.figures}
    assert kinds >= {"driver", "jvm", "executor", "worker", "broker", "enriched"}
    assert any(figure.name == "log" for figure in result.figures)
    assert any(figure.name == "entries" for figure in result.figures)
