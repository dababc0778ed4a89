"""What a topic will never take ends the app at once, and says what would have it taken."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.systems.connection import KafkaConnection
from streamapp_runtime.systems.kafka import latest_values
from tests.harness.kafka.topic_records import create
from tests.harness.runs.app_runs import AppEnv, app, inputs
from tests.harness.runs.run_systems import kafka as on_kafka
from tests.harness.runs.run_systems import no_session


@pytest.fixture
def env(kafka: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AppEnv]:
    monkeypatch.setattr(latest_values, "SETTLE_SECONDS", 0.5)  # the transaction of the batch stays open
    with on_kafka(no_session(), tmp_path, KafkaConnection(kafka)) as env:
        yield env


def copying() -> StreamApp:
    views = {"name": "views", "key": "user", "columns": "user STRING, at TIMESTAMP, text STRING"}
    return app(
        {"name": "out", "sendTo": {"from": "views", "stream": "copied"}},
        streams=[
            views | {"eventTime": {"column": "at", "maxAhead": "60d"}},
            {"name": "copied", "key": "user"},
        ],
    )


def view(at: str, text: str = "") -> dict[str, str]:
    return {"user": "ann", "at": at, "text": text}


def test_a_time_that_is_too_far_ahead(env: AppEnv) -> None:
    next_month = datetime.now(tz=UTC) + timedelta(days=30)
    env.write("views", inputs([view(next_month.isoformat())], "user"), 1)
    with pytest.raises(
        FinalFailureError, match=r"copied.*INVALID_TIMESTAMP.*message\.timestamp\.after\.max\.ms"
    ):
        env.run(copying())


def test_a_record_that_is_too_large(env: AppEnv, kafka: str) -> None:
    create(kafka, {f"{env.prefix}copied": 1}, **{"max.message.bytes": "1000"})
    views = [view("2026-11-01T12:00:00Z", text) for text in ("x" * 10, hex(9**4000))]
    env.write("views", inputs(views, "user"), 1)
    with pytest.raises(FinalFailureError, match=r"copied.*_TOO_LARGE.*max\.message\.bytes"):
        env.run(copying())
