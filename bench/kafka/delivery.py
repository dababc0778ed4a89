"""What exactly once costs a small batch on a real Kafka broker, beside at least once.

Batches of 1,000 views, one lane, a join without changelogs and totals with one: milliseconds of a batch, CPU
of the app and of the broker, each as exactly once over at least once. Both in one run, one after the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.engine import page_views
from bench.engine.apps import JOIN, TOTALS
from bench.engine.overhead import BATCHES, settled
from bench.engine.redis_server import cpu_of
from bench.engine.runs import run_app
from bench.kafka.topics import broker_of_ones_own, create, fill, on_kafka
from bench.row import Row
from tests.kafka.broker import Broker

SIZE = 1_000
APPS = {"a join without changelogs": (JOIN, "enriched"), "totals with a changelog": (TOTALS, "totals")}


@dataclass(frozen=True, slots=True)
class Cost:
    """What one batch takes."""

    milliseconds: float
    cpu: float  # milliseconds, of the app
    broker: float  # the same of the broker


def rows() -> Iterator[Row]:
    """By app."""
    for name, (app, output) in APPS.items():
        with broker_of_ones_own() as (broker, folder):
            views = page_views.views(BATCHES * SIZE)
            fill(broker.bootstrap, {"users": page_views.users(1), "views": views})
            create(broker.bootstrap, output)
            found = {way: _cost(app, way, broker, folder) for way in ("exactlyOnce", "atLeastOnce")}
        for way, cost in found.items():
            beside = f"{cost.cpu:.0f} ms of CPU, {cost.broker:.0f} ms of the broker's"
            yield Row(f"{name}, {way}", cost.milliseconds, "ms", beside=beside)
        once, least = found["exactlyOnce"], found["atLeastOnce"]
        beside = f"CPU {once.cpu / least.cpu:.2f}, the broker's {once.broker / least.broker:.2f}"
        yield Row(
            "  exactly once over at least once", once.milliseconds / least.milliseconds, "x", beside=beside
        )


def _cost(app: str, way: str, broker: Broker, folder: Path) -> Cost:
    said = on_kafka(app, broker.bootstrap).replace("bench.measured", f"bench.{way}")
    said = said.replace("  processors: 1", f"  processors: 1\n  delivery: {way}")
    before = cpu_of(broker.pid)
    run = run_app(said, folder / way, rows=SIZE, batches=BATCHES)
    spent = (cpu_of(broker.pid) - before) / len(run.batches) * 1e3
    return Cost(*settled(run), spent)
