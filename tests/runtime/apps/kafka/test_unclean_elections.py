"""A replica that lags becomes the leader of an app's input: what it does not have is lost, and said so."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.failures import FinalFailureError
from streamapp_runtime.systems.connection import KafkaConnection
from streamapp_runtime.systems.stream_system import UnavailableError
from tests.harness.kafka.clients import QUIET
from tests.harness.kafka.topic_records import produce
from tests.harness.machine.processes import until
from tests.harness.outages.broker_cluster import BrokerCluster, BrokerFault, in_time
from tests.harness.runs.app_runs import AppEnv, app
from tests.harness.runs.growing_loop import Run
from tests.harness.runs.run_systems import kafka as on_kafka
from tests.harness.runs.run_systems import no_session

pytestmark = [pytest.mark.long, pytest.mark.timeout(600)]
LEADER, LAGGING, OTHER = range(3)
CONFIG = {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, kafka_jars: object) -> Iterator[BrokerCluster]:
    with closing(BrokerCluster(tmp_path_factory.mktemp("brokers"))) as brokers:
        brokers.start()
        yield brokers


@pytest.fixture
def env(cluster: BrokerCluster, tmp_path: Path) -> Iterator[AppEnv]:
    with on_kafka(no_session(), tmp_path, KafkaConnection(cluster.bootstrap)) as env:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap, **QUIET})
        replicas = [[LEADER + 1, LAGGING + 1]]
        views = NewTopic(f"{env.prefix}views", 1, replica_assignment=replicas, config=CONFIG)
        admin.create_topics([views])[views.topic].result(60)
        until(lambda: env.system.partitions(views.topic), 60)
        yield env
    for broker in cluster.brokers:
        broker.revive()


def copying(**spec: str) -> StreamApp:
    views = {"name": "views", "key": "user", "columns": "user STRING"}
    copy = {"name": "out", "sendTo": {"from": "views", "stream": "seen"}}
    return app(copy, streams=[views, {"name": "seen", "key": "user"}], **spec)


def write(env: AppEnv, cluster: BrokerCluster, *users: str) -> None:
    rows = [{"user": user} for user in users]
    produce(cluster.bootstrap, f"{env.prefix}views", rows, "user")


def with_an_unclean_leader(env: AppEnv, cluster: BrokerCluster, edited: StreamApp) -> Run:
    """An app that has read three views, of which the next leader has one."""
    write(env, cluster, "ann")
    run = in_time(lambda: Run.start(env, edited))
    run.to_the_end()
    cluster.begin(BrokerFault.FROZEN, LAGGING)
    views = f"{env.prefix}views"
    admin = AdminClient({"bootstrap.servers": cluster.brokers[OTHER].bootstrap, **QUIET})
    until(lambda: admin.list_topics(views, 30).topics[views].partitions[0].isrs == [LEADER + 1], 60)
    write(env, cluster, "bob", "cid")
    run.to_the_end()
    assert sorted(row["user"] for row in env.rows("seen")) == ["ann", "bob", "cid"]
    cluster.begin(BrokerFault.KILLED, LEADER)
    cluster.end(BrokerFault.FROZEN, LAGGING)
    until(lambda: cluster.leader(views, asked=OTHER) == LAGGING, 120)
    return run


def has_stepped(run: Run) -> bool:
    """Whether a batch was run; brokers may still be agreeing on who leads what."""
    try:
        return run.loop.step() is not None
    except UnavailableError:
        return False


@pytest.mark.nightly
def test_an_app_that_may_lose_nothing_ends_and_names_what_was_read_before(
    env: AppEnv, cluster: BrokerCluster
) -> None:
    run = with_an_unclean_leader(env, cluster, copying())
    with pytest.raises(FinalFailureError, match=r"views#0: its next leader has it up to \d"):
        until(lambda: has_stepped(run), 120)


@pytest.mark.nightly
def test_an_app_that_goes_on_reads_what_the_next_leader_has(env: AppEnv, cluster: BrokerCluster) -> None:
    run = with_an_unclean_leader(env, cluster, copying(onDataLoss="earliest"))
    until(lambda: has_stepped(run), 120)
    run.to_the_end()
    write(env, cluster, "dan")
    until(lambda: has_stepped(run), 120)
    run.to_the_end()
    assert sorted(row["user"] for row in env.rows("seen")) == ["ann", "ann", "bob", "cid", "dan"]


@pytest.mark.parametrize("restarted", [pytest.param(False, marks=pytest.mark.nightly), True])
def test_new_records_in_the_place_of_lost_ones_are_read(
    env: AppEnv, cluster: BrokerCluster, restarted: bool
) -> None:
    edited = copying(onDataLoss="earliest")
    run = with_an_unclean_leader(env, cluster, edited)
    if restarted:
        run.loop.release()
    write(env, cluster, "dan", "eve", "fay")  # the next leader ends behind what was read
    if restarted:
        run = in_time(lambda: Run.start(env, edited))
    until(lambda: has_stepped(run), 120)
    run.to_the_end()
    seen = ["ann", "ann", "bob", "cid", "dan", "eve", "fay"]
    assert sorted(row["user"] for row in env.rows("seen")) == seen
