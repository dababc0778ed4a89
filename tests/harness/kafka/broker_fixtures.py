"""Brokers for tests. Where there can be none, tests are left out with one line; under CI=true they fail."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.harness.kafka.broker import Broker
from tests.harness.kafka.jars import NEWEST, TO_BE_KILLED, NoKafkaError, jars
from tests.harness.kafka.shared_broker import shared_broker
from tests.harness.machine.left_out import leave_out

Pair = tuple[Broker, Broker]


@pytest.fixture(scope="session")
def kafka_jars() -> Path:
    """The folder of the newest jars of Kafka; those of brokers that are killed are there as well."""
    try:
        jars(TO_BE_KILLED)
        return jars(NEWEST)
    except NoKafkaError as error:
        leave_out(str(error))


@pytest.fixture(scope="session")
def kafka(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a broker that all tests share: each takes topics and names of its own."""
    base = tmp_path_factory.getbasetemp()
    # The processes of a run have folders beside each other.
    run = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with shared_broker(run / "kafka") as address:
        yield address


@pytest.fixture
def broker(kafka_jars: Path, tmp_path: Path) -> Iterator[Broker]:
    """A broker of the test's own, to be killed and started again as it likes."""
    broker = Broker(tmp_path / "broker", release=TO_BE_KILLED)
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture(scope="module")
def lasting_broker(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """A broker that the tests of a module kill and freeze in turn; each takes topics and names of its own."""
    broker = Broker(tmp_path_factory.mktemp("lasting") / "broker", release=TO_BE_KILLED)
    broker.start()
    yield broker
    broker.stop()


@pytest.fixture(scope="module")
def lasting_pair(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two brokers of a module's tests; each has all partitions."""
    settings = {"default.replication.factor": "2", "transaction.state.log.replication.factor": "2"}
    folder = tmp_path_factory.mktemp("pair")
    keeps = Broker(folder / "keeps", settings, release=TO_BE_KILLED)
    goes = Broker(folder / "goes", settings, joins=keeps)
    keeps.start()
    goes.start()
    yield keeps, goes
    goes.kill()  # it would wait for the other one
    keeps.stop()


@pytest.fixture
def two_brokers(lasting_pair: Pair) -> Iterator[Pair]:
    """The one that keeps the cluster together, and the one that may go; the next test has both."""
    yield lasting_pair
    lasting_pair[1].revive()
