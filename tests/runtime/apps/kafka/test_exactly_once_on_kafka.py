"""Whoever is killed while an app runs from and to Kafka: every view is joined and written once."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.runs.page_views_run import PageViews


@pytest.fixture
def app(kafka: str, tmp_path: Path) -> Iterator[PageViews]:
    app = PageViews(kafka, "once", tmp_path)
    app.prepare()
    yield app
    app.kill()


@pytest.mark.long
def test_a_killed_worker_and_a_killed_driver_lose_and_repeat_nothing(app: PageViews) -> None:
    app.view(2_000)
    app.start()
    app.until(lambda: app.size() == len(app.expected()))

    dies = app.crash_at("commit.before.processor-0")  # with all of a batch written, and not committed
    app.view(1_000)
    app.until(lambda: not dies.exists())
    app.until(lambda: app.size() == len(app.expected()))

    os.kill(app.victims()["worker"][0], 9)
    app.view(1_000)
    app.until(lambda: app.size() == len(app.expected()))

    dies = app.crash_at("commit.after.processor-0")  # committed, and nobody has heard of it
    app.view(500)
    app.until(lambda: not dies.exists())
    app.kill()
    app.view(500)
    app.start("--until-end")
    assert app.end() == 0, app.said()
    app.checked()
