"""Each of three brokers in trouble in turn under an app's load: it goes on, and each row is there once."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.harness.machine.network_namespaces import network_or_skip
from tests.harness.outages.broker_cluster import SIZE, BrokerCluster, BrokerFault
from tests.harness.outages.broker_trial import BrokerTrial, every_fault

TROUBLE_SECONDS, SETTLE_SECONDS = 8.0, 8.0


def suffered(cluster: BrokerCluster, fault: BrokerFault, folder: Path) -> None:
    """Each broker once; the trial compares all rows with a model at its end."""
    trial = BrokerTrial(cluster, folder)
    try:
        cluster.start()
        with trial.running():
            every_fault(trial, (fault,), TROUBLE_SECONDS, SETTLE_SECONDS, print)
        lines = [json.loads(line) for line in trial.app.said().splitlines() if line.startswith("{")]
    finally:
        cluster.close()
    events = Counter(line["event"] for line in lines)
    assert not events["trouble"], [line for line in lines if line["event"] == "trouble"]
    assert events["outage"] == events["outageOver"] <= 2 * SIZE


@pytest.mark.nightly
@pytest.mark.usefixtures("kafka_jars")
@pytest.mark.parametrize("fault", [BrokerFault.FROZEN, BrokerFault.KILLED])
def test_an_app_goes_on_while_each_broker_in_turn_is_in_trouble(fault: BrokerFault, tmp_path: Path) -> None:
    suffered(BrokerCluster(tmp_path / "brokers"), fault, tmp_path / "app")


@pytest.mark.long
@pytest.mark.usefixtures("kafka_jars")
def test_an_app_goes_on_while_each_broker_in_turn_is_cut_off(tmp_path: Path) -> None:
    with network_or_skip(SIZE) as network:
        suffered(BrokerCluster(tmp_path / "brokers", network), BrokerFault.CUT_OFF, tmp_path / "app")
