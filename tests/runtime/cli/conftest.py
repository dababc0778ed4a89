"""One run of the command on real data, whose output several tests look at."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from examples.sample_data import Sample, sample
from tests.harness.runs.run_process import Running
from tests.harness.runs.written_sample import written


@pytest.fixture(scope="session")
def sample_data() -> Sample:
    return sample(users=200, views=5_000)


@pytest.fixture(scope="session")
def data(sample_data: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(sample_data, tmp_path_factory.mktemp("run"))


@pytest.fixture
def unread_data(sample_data: Sample, tmp_path: Path) -> Path:
    """The same for one test, of which no app has read anything."""
    return written(sample_data, tmp_path)


@pytest.fixture(scope="session")
def idle(data: Path) -> Iterator[Running]:
    """An app that has read everything and goes on running."""
    running = Running.start(data, "--metrics-port", "0", "--page", "--batch-rows", "2000")
    try:
        running.until(lambda said: said.get("event") == "idle")
        yield running
    finally:
        if running.process.poll() is None:
            running.process.kill()
            running.process.communicate()
