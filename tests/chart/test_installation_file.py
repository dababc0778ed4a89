"""The operator reads what the chart writes for it."""

import pytest

from streamapp_operator.reconciler.installation import Allowance, AllowLists, AppNetworkRules, Installation
from streamapp_operator.reconciler.installation_file import read_installation
from tests.harness.machine.helm import Helm, of_kind, value_set, value_sets


def read(helm: Helm, *said: str) -> Installation:
    config = of_kind(helm.objects(*said), "ConfigMap")["streamapp-system/streamapp-operator"]
    found = read_installation(config["data"]["installation.yaml"])
    assert isinstance(found, Installation), found
    return found


@pytest.mark.parametrize("name", [one for one in value_sets() if one != "measured"])
def test_every_set_of_values_makes_a_file_that_can_be_read(helm: Helm, name: str) -> None:
    assert read(helm, value_set(name)).image.partition("@")[0] == "streamapp-runtime:0.1.0"


def test_values_arrive(helm: Helm) -> None:
    found = read(
        helm,
        "--set=apps.allowed.features={hostPath,privileged},apps.hostPathRoots={/a,/b}",
        "--set=apps.allowed.images={registry.example/team},apps.allowed.secrets={kafka-*,pull}",
        "--set=apps.allowed.serviceAccounts={loads-*},apps.allowed.volumes={emptyDir}",
        "--set=apps.storageClass=fast,apps.driverRequests.cpu=2,runtimeImage.pullPolicy=Never,runtimeImage.pullSecrets[0].name=pull",
        "--set=apps.networkPolicy.enabled=true,apps.networkPolicy.viewers[0].podSelector.matchLabels.role=admin",
        "--set=apps.networkPolicy.egress[0].to[0].ipBlock.cidr=10.0.0.0/8",
        "--set-string=apps.sparkConf.spark\\.sql\\.shuffle\\.partitions=8",
    )
    assert found == Installation(
        image="streamapp-runtime:0.1.0",
        image_pull_policy="Never",
        image_pull_secrets=("pull",),
        host_path_roots=("/a", "/b"),
        storage_class="fast",
        allowed=frozenset({Allowance.HOST_PATH, Allowance.PRIVILEGED}),
        allow_lists=AllowLists(
            images=("registry.example/team",),
            secrets=("kafka-*", "pull"),
            service_accounts=("loads-*",),
            volumes=("emptyDir",),
        ),
        driver_requests={"cpu": "2", "memory": "2Gi"},
        spark_conf={"spark.sql.shuffle.partitions": "8"},
        network_rules=AppNetworkRules(
            viewers=({"podSelector": {"matchLabels": {"role": "admin"}}},),
            egress=({"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]},),
        ),
    )


def test_defaults_of_the_chart_are_those_of_the_operator(helm: Helm) -> None:
    assert read(helm) == Installation(image="streamapp-runtime:0.1.0")
