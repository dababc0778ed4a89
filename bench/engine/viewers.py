"""The page of a running app: CPU of its driver with 0, 1 and 10 viewers, beside the same run without a page.

An app reads 1,000 rows a second that somebody else writes. Viewers read the stream of events as browsers do.
Windows with 0, 1 and 10 viewers take turns in one run, since machines are noisy; each figure is the median of
its windows, and of the driver's Python process alone: what a browser does with the page is not in it.
"""

import os
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from threading import Event, Thread
from urllib.request import urlopen

from bench.app_runs import page_views
from bench.app_runs.spent import cpu_seconds
from bench.row import Aim, Compared, Row
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
from streamapp_runtime.systems.topic_partition import TopicPartition

COMMAND = Path(sys.executable).with_name("streamapp")
ROWS_A_SECOND = 1_000
WINDOW_SECONDS = float(os.environ.get("BENCH_VIEWER_SECONDS", "20"))
TURNS = 3
VIEWERS = {0: "with a page, nobody looks", 1: "one viewer", 10: "ten viewers"}
START_SECONDS = 120.0
_APP = """
apiVersion: streamapp.dev/v1alpha1
kind: StreamApp
metadata: {name: measured, namespace: bench}
spec:
  systems: [{name: main, embedded: {path: data}}]
  streams:
    - {name: views, system: main, key: user, columns: "user STRING, page STRING"}
    - {name: copied, system: main, key: user}
  operators:
    - {name: written, sendTo: {from: views, stream: copied}}
"""


def rows() -> Iterator[Row]:
    """Percent of a core, without a page and with so many viewers."""
    without = _shares("")[0]
    yield Row("without a page", without, "% of a core")
    shares = _shares("--page")
    for viewers, share in shares.items():
        aim = Aim(most=without + 1) if viewers == 1 else None
        yield Row(VIEWERS[viewers], share, "% of a core", aim, "", Compared("without a page", without))


def _shares(option: str) -> dict[int, float]:
    """The driver's share of a core, by the number of viewers; of nobody alone without a page."""
    with tempfile.TemporaryDirectory() as folder, ExitStack() as opened:
        app, data = Path(folder) / "app.yaml", Path(folder) / "data"
        app.write_text(_APP, "utf-8")
        log = EmbeddedSystem(data)
        log.create("views", 4)
        log.create("copied", 4)
        log.close()
        opened.enter_context(_writing(data))
        process, url = opened.enter_context(_running(app, data, option))
        shares: defaultdict[int, list[float]] = defaultdict(list)
        for _ in range(TURNS):
            for viewers in VIEWERS if url else (0,):
                with _viewing(url, viewers):
                    before = cpu_seconds(process)["driver"]
                    time.sleep(WINDOW_SECONDS)
                    shares[viewers].append((cpu_seconds(process)["driver"] - before) / WINDOW_SECONDS * 100)
    return {viewers: median(measured) for viewers, measured in shares.items()}


@contextmanager
def _running(app: Path, data: Path, option: str) -> Iterator[tuple[int, str]]:
    """The run, settled; its process and the address of its page."""
    words = [str(COMMAND), "run", str(app), "--data", str(data), *([option] if option else [])]
    output = data.with_name("output")
    with output.open("wb") as file:
        process = subprocess.Popen(words, stdout=file, stderr=subprocess.STDOUT)  # noqa: S603 - our own
    try:
        deadline = time.monotonic() + START_SECONDS
        while not EmbeddedSystem(data).spans([TopicPartition("copied", 0)])[TopicPartition("copied", 0)].end:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the run has not begun:\n{output.read_text('utf-8')}")
            time.sleep(0.5)
        time.sleep(WINDOW_SECONDS / 2)  # the JVM compiles what it runs
        page = re.search(r"page at (\S+)", output.read_text("utf-8"))
        yield process.pid, page[1] if page else ""
    finally:
        process.terminate()
        process.wait()


@contextmanager
def _writing(data: Path) -> Iterator[None]:
    """Somebody who writes rows, ten times a second."""
    stopped = Event()

    def write() -> None:
        log, number = EmbeddedSystem(data), 0
        (records,) = page_views.views(ROWS_A_SECOND // 10)
        while not stopped.wait(0.1):
            transaction = log.begin("bench.writer", 0)
            transaction.append(TopicPartition("views", number % 4), records)
            transaction.commit()
            number += 1
        log.close()

    writer = Thread(target=write)
    writer.start()
    try:
        yield
    finally:
        stopped.set()
        writer.join()


@contextmanager
def _viewing(url: str, viewers: int) -> Iterator[None]:
    """So many who read the events of a page."""
    stopped = Event()

    def view() -> None:
        with urlopen(f"{url}events", timeout=60) as events:  # noqa: S310 - http of this machine
            while not stopped.is_set() and events.readline():
                pass

    threads = [Thread(target=view) for _ in range(viewers)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
