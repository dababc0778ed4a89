"""TLS and a password, from files: they open the cluster, and are told to nobody."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from streamapp_runtime.systems.connection import KafkaConnection, open_system
from streamapp_runtime.systems.kafka import cluster_admin
from streamapp_runtime.systems.kafka.secret_settings import read_secrets
from streamapp_runtime.systems.stream_system import DeniedError, InvalidSettingsError
from streamapp_runtime.systems.topic_partition import TopicPartition
from tests.harness.engine.record_values import texts, values, write
from tests.harness.kafka.secured_broker import PASSWORD, certificate, guarded, secrets
from tests.harness.runs.page_views_run import PageViews, app


@pytest.fixture(scope="module")
def fortress(kafka_jars: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """Two addresses of a broker, one open and one guarded, and the certificate that it shows."""
    broker, address, cert = guarded(tmp_path_factory.mktemp("fortress"))
    broker.start()
    yield broker.bootstrap, address, cert
    broker.stop()


def test_what_the_files_say_opens_the_cluster(fortress: tuple[str, str, str], tmp_path: Path) -> None:
    _, address, cert = fortress
    system = open_system(KafkaConnection(address, {}, str(secrets(tmp_path / "secrets", cert))))
    system.create("guarded", 1)
    write(system, TopicPartition("guarded", 0), values("a", "b"))
    assert texts(system, TopicPartition("guarded", 0)) == ["a", "b"]
    system.close()


@pytest.mark.parametrize("wrong", ["password", "certificate"])
def test_a_wrong_password_and_a_wrong_certificate_are_named_as_such(
    fortress: tuple[str, str, str], tmp_path: Path, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamapp_runtime.systems.kafka.topics.ANSWER_SECONDS", 5.0)
    _, address, cert = fortress
    other, _ = certificate(tmp_path, "other")
    folder = secrets(tmp_path / "secrets", other if wrong == "certificate" else cert, "wrong-" + PASSWORD)
    system = open_system(KafkaConnection(address, {}, str(folder)))
    with pytest.raises(
        DeniedError, match="certificate" if wrong == "certificate" else "uthentication"
    ) as told:
        system.partitions("guarded")
    assert PASSWORD not in str(told.value)
    system.close()


@pytest.mark.usefixtures("process")
def test_an_app_that_runs_says_nothing_of_them_anywhere(
    fortress: tuple[str, str, str], tmp_path: Path
) -> None:
    plain, address, cert = fortress
    views = PageViews(plain, "secret", tmp_path / "app")
    views.prepare()
    views.view(200)
    named = app(address, "secret", configSecret={"name": "kafka-client"})
    (views.folder / "app.yaml").write_text(yaml.safe_dump(named))
    folder = secrets(tmp_path / "secrets" / "main", cert)
    views.start("--secrets", str(folder.parent), "--until-end", "--log-format", "json", "--metrics-port", "0")
    assert views.end() == 0, views.said()
    views.checked()
    files = [path for path in views.folder.rglob("*") if path.is_file()]
    assert views.folder / "log.txt" in files
    for path in files:
        assert PASSWORD.encode() not in path.read_bytes(), path


def test_a_key_that_is_no_setting_is_told_by_what_was_meant(tmp_path: Path) -> None:
    (tmp_path / "sasl.pasword").write_text(PASSWORD)
    with pytest.raises(InvalidSettingsError, match=r'1 of its keys is .*mean "sasl\.password"') as told:
        read_secrets(tmp_path)
    assert PASSWORD not in str(told.value)
    assert "pasword" not in str(told.value)


def test_settings_may_stand_in_one_file(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("# of the shop\n\nsecurity.protocol = SSL\nssl.ca.pem=one\\ntwo\n")
    assert read_secrets(file) == {"security.protocol": "SSL", "ssl.ca.pem": "one\ntwo"}


def test_a_clusters_clients_are_shown_without_settings() -> None:
    assert PASSWORD not in repr(cluster_admin.ClusterAdmin("a:1", {"sasl.password": PASSWORD}))
