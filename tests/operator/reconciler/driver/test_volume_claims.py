"""Executors with volume claims: what Spark makes of our settings, with just the rights that a driver has."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from streamapp_operator.reconciler.objects import object_names
from streamapp_runtime.driver.executors.binding import bind_executors
from streamapp_runtime.driver.executors.executor_locations import executor_locations
from streamapp_runtime.driver.modes.pod_environment import SPARK
from streamapp_runtime.driver.spark.jvm_options import COMMON_OPTIONS
from streamapp_runtime.transport.kubernetes_api import KubernetesApi as Client
from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.processes import until
from tests.harness.operator.driver_kubelet import account, asking_for_executors
from tests.harness.operator.operator_sim import ON_REAL_SERVER, OperatorSim
from tests.harness.operator.small_apps import join

PATIENCE_SECONDS = 180.0
CLAIMS = {"state": {"persistentVolumeClaim": {"size": "1Gi"}}}


def sets(sim: OperatorSim) -> list[dict[str, Any]]:
    return sim.objects("statefulsets", "apis/apps/v1")


@ON_REAL_SERVER
def test_spark_makes_a_set_whose_claims_are_the_apps_and_scales_it(sim: OperatorSim, tmp_path: Path) -> None:
    sim.apply(join(**CLAIMS))
    sim.settle()
    sim.begin()
    with asking_for_executors(sim, tmp_path, 2, 3) as spark:
        until(lambda: [one["spec"]["replicas"] for one in sets(sim)] == [3], PATIENCE_SECONDS, spark)
        (made,) = sets(sim)
    uid = sim.app()["metadata"]["uid"]
    assert made["metadata"]["name"] == object_names.executor_set(uid)
    assert [one["name"] for one in made["metadata"]["ownerReferences"]] == ["app-driver-1"]
    template = made["spec"]["template"]
    assert template["metadata"]["labels"]["streamapp.dev/app"] == "app"
    assert template["metadata"]["labels"]["streamapp.dev/role"] == "executor"
    assert template["spec"]["restartPolicy"] == "Always"
    (container,) = template["spec"]["containers"]
    java = {one["value"] for one in container["env"] if one["name"].startswith("SPARK_JAVA_OPT_")}
    assert set(COMMON_OPTIONS.split()) < java
    (claim,) = made["spec"]["volumeClaimTemplates"]
    assert claim["metadata"]["name"] == "streamapp-state"
    assert claim["metadata"]["labels"]["streamapp.dev/app"] == "app"
    assert claim["spec"]["storageClassName"] == "standard"
    assert claim["spec"]["resources"]["requests"]["storage"] == "1Gi"
    mounts = {one["name"]: one["mountPath"] for one in container["volumeMounts"]}
    assert mounts["streamapp-state"] == "/var/lib/streamapp/state"
    assert made["spec"].get("persistentVolumeClaimRetentionPolicy", {}).get("whenDeleted") == "Retain"


def test_a_set_that_a_driver_left_is_gone_before_the_next_one_starts(sim: OperatorSim) -> None:
    sim.apply(join(**CLAIMS))
    sim.settle()
    sim.begin()
    left = object_names.executor_set(sim.app()["metadata"]["uid"])
    labels = {"a": "b"}
    body = {
        "metadata": {"name": left},
        "spec": {
            "replicas": 0,
            "serviceName": "x",
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "x", "image": "x"}]},
            },
        },
    }
    sim.server.ask("POST", f"/apis/apps/v1/namespaces/{sim.namespace}/statefulsets", body)
    sim.fail_driver(60)
    assert sim.driver()["metadata"]["name"] == "app-driver-2"
    assert sets(sim) == []


def test_claims_without_a_class_are_of_the_clusters_default_if_there_is_one(sim: OperatorSim) -> None:
    sim.installation = replace(sim.installation, storage_class="")
    sim.apply(join(**CLAIMS))
    sim.settle()
    assert "storageClassName: missing" in sim.condition("Accepted")["message"]
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    body = {"metadata": {"name": "quick", "annotations": default}, "provisioner": "x"}
    classes = "/apis/storage.k8s.io/v1/storageclasses"
    sim.server.ask("POST", classes, body)
    sim.settle()
    sim.server.ask("DELETE", f"{classes}/quick")
    conf = json.loads(sim.config_map("app-accepted-1")["data"][SPARK])
    volume = "spark.kubernetes.executor.volumes.persistentVolumeClaim.streamapp-state."
    assert conf[f"{volume}options.storageClass"] == "quick"
    assert sim.driver()["metadata"]["name"] == "app-driver-1"


def executor(sim: OperatorSim, ordinal: int, number: str) -> None:
    """A pod of the set, as its controller makes it and Spark labels it."""
    name = f"set-{ordinal}"
    labels = {"streamapp.dev/app": "app", "streamapp.dev/role": "executor", "spark-exec-id": number}
    volume = {"name": "streamapp-state", "persistentVolumeClaim": {"claimName": f"streamapp-state-{name}"}}
    body = {
        "metadata": {"name": name, "labels": labels},
        "spec": {"containers": [{"name": "x", "image": "x"}], "volumes": [volume]},
    }
    sim.server.ask("POST", f"/api/v1/namespaces/{sim.namespace}/pods", body)


@ON_REAL_SERVER
def test_a_driver_knows_by_which_claim_each_executor_is(sim: OperatorSim, tmp_path: Path) -> None:
    sim.apply(join(**CLAIMS))
    sim.settle()
    pod = sim.driver()
    given = account(sim, pod, tmp_path / "account")
    server = sim.server
    assert isinstance(server, ApiServer)
    client = Client(server.url, given / "token", given / "ca.crt", sim.namespace)
    own = {one["name"]: one.get("value", "") for one in pod["spec"]["containers"][0]["env"]}
    places = executor_locations(lambda: client.pods(own["STREAMAPP_EXECUTORS"]), own["STREAMAPP_LOCATION"])
    for ordinal, number in ((10, "1"), (0, "2"), (2, "3")):
        executor(sim, ordinal, number)
    at = places({"1", "2", "3"})
    assert at == {one: f"streamapp-state-set-{ordinal}" for one, ordinal in {"1": 10, "2": 0, "3": 2}.items()}
    seats = bind_executors({}, at, ["processor-0", "processor-1", "processor-2"], {}, at)
    assert seats == {"processor-0": "2", "processor-1": "3", "processor-2": "1"}


def test_claims_of_executors_end_with_their_app_where_it_says_so_and_no_driver_ends(
    sim: OperatorSim,
) -> None:
    sim.apply(join(state={**CLAIMS["state"], "reclaimPolicy": "Delete"}))
    sim.settle()
    sim.begin()
    claims = f"/api/v1/namespaces/{sim.namespace}/persistentvolumeclaims"
    stateful_set = object_names.executor_set(sim.app()["metadata"]["uid"])
    for ordinal, number in ((0, "1"), (1, "2")):
        spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        metadata = {
            "name": f"streamapp-state-{stateful_set}-{ordinal}",
            "labels": {"streamapp.dev/app": "app"},
        }
        claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
        sim.server.ask("POST", claims, claim)
        executor(sim, ordinal, number)
    sim.report()
    sim.settle()
    assert sim.condition("Ready")["status"] == "True"
    assert _owners(sim) == ["app", "app"]
    sim.edit(state={"reclaimPolicy": "Retain"})
    sim.settle()
    assert sim.driver()["metadata"]["name"] == "app-driver-1"


def _owners(sim: OperatorSim) -> list[str]:
    found = sim.objects("persistentvolumeclaims")
    return [one["name"] for claim in found for one in claim["metadata"].get("ownerReferences", ())]
