"""What the token of a driver may do with pods, on a real API server with the chart's policies."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from copy import deepcopy
from dataclasses import replace
from http.client import HTTPSConnection
from pathlib import Path
from typing import Any

import pytest

from streamapp_operator.reconciler.installation import Allowance, AllowLists
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.pods.dry_run_pods import dry_run_pods
from streamapp_operator.reconciler.pods.pod_shape import read_pod_shape
from tests.harness.api_server.api_server import ApiServer
from tests.harness.machine.helm import Helm
from tests.harness.machine.processes import until
from tests.harness.operator.driver_kubelet import asking_for_executors, driver_token
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join

POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
IMAGE = "streamapp-runtime:test"
Change = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def guarded(api_server: ApiServer, helm: Helm) -> Iterator[ApiServer]:
    """The API server with the chart's policies, which are gone afterwards: other tests share the server."""
    objects = [one for one in helm.objects() if one["kind"].startswith("ValidatingAdmissionPolicy")]
    applied = api_server.kubectl("apply", "-f", "-", given=objects)
    assert applied.returncode == 0, applied.stderr
    yield api_server
    api_server.kubectl("delete", "--wait=false", "-f", "-", given=objects)


@pytest.fixture
def sim(guarded: ApiServer, namespace: str) -> Iterator[OperatorSim]:
    made = OperatorSim(guarded, namespace)
    yield made
    made.close()


class Driver:
    """The API server as the driver of an app sees it, with the token that is mounted in its pod."""

    def __init__(self, sim: OperatorSim, name: str = "app") -> None:
        self.sim, self.name = sim, name
        self.pod = next(
            pod for pod in sim.drivers() if pod["metadata"]["labels"]["streamapp.dev/app"] == name
        )
        self.token = driver_token(sim, self.pod)
        until(lambda: self.create(self.executor(labels={"a": "b"}), dry=True)[0] != 201, 30)

    def call(
        self, method: str, path: str, body: Any = None, content: str = "application/json"
    ) -> tuple[int, str]:
        server = self.sim.server
        assert isinstance(server, ApiServer)
        connection = HTTPSConnection("127.0.0.1", server.port, timeout=30, context=server.trusting())
        with closing(connection):
            headers = {"Authorization": f"Bearer {self.token}", "Content-Type": content}
            text = None if body is None else json.dumps(body)
            connection.request(method, f"/{path}", text, headers)
            reply = connection.getresponse()
            return reply.status, reply.read().decode()

    def path(self, plural: str = "pods", group: str = "api/v1") -> str:
        return f"{group}/namespaces/{self.sim.namespace}/{plural}"

    def create(self, pod: dict[str, Any], *, dry: bool = False) -> tuple[int, str]:
        return self.call("POST", self.path() + ("?dryRun=All" if dry else ""), pod)

    def executor(self, number: int = 1, **metadata: Any) -> dict[str, Any]:
        """An executor's pod as Spark makes it of the app's template."""
        app = self.sim.app(self.name)
        shape = read_pod_shape(self.sim.config_map(f"{self.name}-accepted-1")["data"])
        pod = deepcopy(dict(dry_run_pods(app, shape, 1))["spec.executor"])
        owner = {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": self.pod["metadata"]["name"],
            "uid": self.pod["metadata"]["uid"],
            "controller": True,
        }
        labels = {
            "spark-role": "executor",
            "spark-exec-id": str(number),
            "spark-exec-resourceprofile-id": "0",
            "spark-app-selector": object_names.spark_app(app["metadata"]["uid"]),
            **metadata.get("labels", {}),
        }
        pod["metadata"] |= {"name": f"{self.name}-exec-{number}", "ownerReferences": [owner]}
        pod["metadata"]["labels"] |= labels
        pod["spec"]["containers"][0]["image"] = IMAGE
        pod["spec"].setdefault("volumes", []).append({"name": "spark-local-dir-1", "emptyDir": {}})
        return pod


def launch(sim: OperatorSim, **spec: Any) -> Driver:
    sim.apply(join(**spec))
    sim.settle()
    sim.begin("app-driver-1")
    return Driver(sim)


SECRETS = {
    "systems": [
        {
            "name": "main",
            "kafka": {"bootstrapServers": "kafka:9093", "configSecret": {"name": "kafka-client"}},
        }
    ]
}


@pytest.mark.parametrize(
    "spec", [{}, SECRETS, {"code": {"configMap": "code"}}], ids=["plain", "secret", "code"]
)
def test_a_driver_makes_relabels_and_deletes_executors_of_its_app(
    sim: OperatorSim, spec: dict[str, Any]
) -> None:
    driver = launch(sim, **spec)
    code, text = driver.create(driver.executor())
    assert code == 201, text
    other_run = driver.executor(2)
    other_run["metadata"]["labels"]["spark-app-selector"] += (
        "-7"  # as each driver that needs no claims has it
    )
    other_run["metadata"]["name"] = "app-1-exec-2"
    code, text = driver.create(other_run)
    assert code == 201, text
    change = {"metadata": {"labels": {"spark-exec-inactive": "true"}, "annotations": {"a": "b"}}}
    path = f"{driver.path()}/app-exec-1"
    code, text = driver.call("PATCH", path, change, "application/merge-patch+json")
    assert code == 200, text
    code, text = driver.call("DELETE", f"{driver.path()}?labelSelector=spark-role%3Dexecutor")
    assert code == 200, text
    assert sim.names("pods") == ["app-driver-1"]


def test_a_token_of_the_executors_account_is_taken_where_the_app_annotates_that_account(
    sim: OperatorSim,
) -> None:
    """As the webhooks of clouds add it to a pod whose account has an identity."""
    sim.installation = replace(sim.installation, allow_lists=AllowLists(account_annotations=("cloud/*",)))
    driver = launch(sim, executor={"serviceAccountAnnotations": {"cloud/role": "shop"}})
    pod = driver.executor()
    token = {"serviceAccountToken": {"path": "token", "audience": "sts.cloud.example"}}
    pod["spec"]["volumes"].append({"name": "cloud-token", "projected": {"sources": [token]}})
    code, text = driver.create(pod)
    assert code == 201, text


def spec(**fields: Any) -> Change:
    return lambda pod: pod["spec"].update(fields)


def container(**fields: Any) -> Change:
    return lambda pod: pod["spec"]["containers"][0].update(fields)


def volume(**source: Any) -> Change:
    return lambda pod: pod["spec"]["volumes"].append({"name": "stolen", **source})


def security(**fields: Any) -> Change:
    return lambda pod: pod["spec"]["containers"][0]["securityContext"].update(fields)


def variable(**source: Any) -> Change:
    return container(env=[{"name": "STOLEN", "valueFrom": source}])


def metadata(**fields: Any) -> Change:
    return lambda pod: pod["metadata"].update(fields)


def label(**labels: str) -> Change:
    return lambda pod: pod["metadata"]["labels"].update({k.replace("__", "/"): v for k, v in labels.items()})


def without(*fields: str) -> Change:
    return lambda pod: [pod["spec"].pop(name) for name in fields]


REFUSED: dict[str, tuple[Change, str]] = {
    "other account": (spec(serviceAccountName="app-driver"), "has the account"),
    "namespace's account": (without("serviceAccountName"), "has the account"),
    "token": (spec(automountServiceAccountToken=True), "no token"),
    "projected token": (
        volume(projected={"sources": [{"serviceAccountToken": {"path": "t"}}]}),
        "Secrets, ConfigMaps",
    ),
    "a certificate of the pod": (
        volume(projected={"sources": [{"podCertificate": {"signerName": "a/b", "keyType": "ED25519"}}]}),
        "Secrets, ConfigMaps",
    ),
    "host network": (spec(hostNetwork=True), "part of its node"),
    "host processes": (spec(hostPID=True), "part of its node"),
    "host messages": (spec(hostIPC=True), "part of its node"),
    "host port": (container(ports=[{"containerPort": 1, "hostPort": 1}]), "part of its node"),
    "a folder of the node": (volume(hostPath={"path": "/etc"}), "Secrets, ConfigMaps"),
    "a share": (volume(nfs={"server": "s", "path": "/"}), "Secrets, ConfigMaps"),
    "a Secret": (volume(secret={"secretName": "payments"}), "Secrets, ConfigMaps"),
    "a projected Secret": (
        volume(projected={"sources": [{"secret": {"name": "payments"}}]}),
        "Secrets, ConfigMaps",
    ),
    "a ConfigMap": (volume(configMap={"name": "other-accepted-1"}), "Secrets, ConfigMaps"),
    "a claim": (volume(persistentVolumeClaim={"claimName": "other-state"}), "Secrets, ConfigMaps"),
    "a made claim": (
        volume(
            ephemeral={
                "volumeClaimTemplate": {
                    "spec": {
                        "accessModes": ["ReadWriteOnce"],
                        "resources": {"requests": {"storage": "1Gi"}},
                        "dataSource": {"kind": "PersistentVolumeClaim", "name": "other-state"},
                    }
                }
            }
        ),
        "Secrets, ConfigMaps",
    ),
    "a Secret's key": (variable(secretKeyRef={"name": "payments", "key": "k"}), "variables"),
    "a ConfigMap's key": (variable(configMapKeyRef={"name": "payments", "key": "k"}), "variables"),
    "all of a Secret": (container(envFrom=[{"secretRef": {"name": "payments"}}]), "variables"),
    "a pull Secret": (spec(imagePullSecrets=[{"name": "payments"}]), "variables"),
    "an image": (container(image="evil:1"), "has the images"),
    "an init image": (
        spec(
            initContainers=[
                {"name": "x", "image": "evil:1", "securityContext": {"allowPrivilegeEscalation": False}}
            ]
        ),
        "has the images",
    ),
    "root": (security(runAsUser=0), "is not root"),
    "perhaps root": (security(runAsNonRoot=False), "is not root"),
    "no pod context": (without("securityContext"), "is not root"),
    "privileged": (security(privileged=True, allowPrivilegeEscalation=True), "as unprivileged"),
    "escalation": (security(allowPrivilegeEscalation=True), "as unprivileged"),
    "capabilities that are kept": (security(capabilities={}), "as unprivileged"),
    "a sidecar's capabilities": (
        lambda pod: pod["spec"]["containers"].append(
            {"name": "x", "image": IMAGE, "securityContext": {"allowPrivilegeEscalation": False}}
        ),
        "as unprivileged",
    ),
    "a probe of another host": (
        container(livenessProbe={"httpGet": {"port": 80, "host": "169.254.169.254"}}),
        "own pod",
    ),
    "a hook at another host": (
        container(lifecycle={"preStop": {"tcpSocket": {"port": 80, "host": "10.0.0.1"}}}),
        "own pod",
    ),
    "the name of a driver": (metadata(name="later-driver-1"), "is named after"),
    "the name of a driver of a longer name": (metadata(name="app-exec-later-driver-1"), "is named after"),
    "a name of another run": (metadata(name="app-2-exec-1"), "is named after"),
    "a made name": (
        lambda pod: pod["metadata"].update(name=None, generateName="later-driver-"),
        "is named after",
    ),
    "finalizers": (metadata(finalizers=["example.com/stays"]), "finalizers"),
    "a capability": (security(capabilities={"add": ["SYS_ADMIN"]}), "as unprivileged"),
    "no filter of calls": (security(seccompProfile={"type": "Unconfined"}), "is confined"),
    "kernel settings": (
        lambda pod: pod["spec"]["securityContext"].update(sysctls=[{"name": "a", "value": "b"}]),
        "is confined",
    ),
    "a false state owner": (
        spec(
            initContainers=[
                {
                    "name": "streamapp-state-owner",
                    "image": IMAGE,
                    "command": ["sh"],
                    "securityContext": {
                        "runAsUser": 0,
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"add": ["CHOWN"]},
                    },
                }
            ]
        ),
        "is not root",
    ),
    "a node": (spec(nodeName="control-plane"), "is scheduled"),
    "a priority": (spec(priorityClassName="system-node-critical"), "is scheduled"),
    "no owner": (metadata(ownerReferences=[]), "owned by its own pod"),
    "another owner": (
        lambda pod: pod["metadata"]["ownerReferences"][0].update(uid="someone"),
        "owned by its own pod",
    ),
    "a label of a Service": (label(app="payments"), "has the labels"),
    "another app": (label(streamapp__dev="x", **{"streamapp.dev__app": "other"}), "has the labels"),
    "a driver": (label(**{"streamapp.dev__role": "driver"}), "has the labels"),
    "another app's Spark": (label(**{"spark-app-selector": f"sa-{'0' * 16}-1"}), "has the labels"),
    "the name of another app of Spark's": (label(**{"spark-app-name": "payments"}), "has the labels"),
    "no name of Spark's": (
        lambda pod: pod["metadata"]["labels"].pop("spark-app-name"),
        "has the labels",
    ),
    "no labels": (metadata(labels={}), "has the labels"),
}


def test_a_driver_makes_no_pod_that_is_not_as_its_executor_template(sim: OperatorSim) -> None:
    driver = launch(sim)
    for case, (change, message) in REFUSED.items():
        pod = driver.executor()
        change(pod)
        code, text = driver.create(pod)
        assert code in (403, 422), f"{case}: {code} {text}"
        assert message in text, f"{case}: {text}"
    assert sim.names("pods") == ["app-driver-1"]


def test_the_owner_of_a_folder_of_the_node_is_root_with_its_one_mount_and_nothing_else_is(
    sim: OperatorSim,
) -> None:
    sim.installation = replace(sim.installation, host_path_roots=("/data",))
    driver = launch(sim, state={"hostPath": {"path": "/data"}})
    mount = {"name": "streamapp-state", "mountPath": "/var/lib/streamapp/state"}
    for case, change in {
        "more mounts": lambda owner: owner["volumeMounts"].append({**mount, "mountPath": "/again"}),
        "a part of the mount": lambda owner: owner["volumeMounts"][0].update(subPath="other"),
        "kept capabilities": lambda owner: owner["securityContext"]["capabilities"].pop("drop"),
        "more capabilities": lambda owner: owner["securityContext"]["capabilities"].update(
            add=["CHOWN", "FOWNER"]
        ),
    }.items():
        pod = driver.executor()
        (owner,) = pod["spec"]["initContainers"]
        owner["image"] = IMAGE
        change(owner)
        code, text = driver.create(pod)
        assert code in (403, 422), f"{case}: {text}"
    pod = driver.executor()
    pod["spec"]["initContainers"][0]["image"] = IMAGE
    code, text = driver.create(pod)
    assert code == 201, text


def test_pods_of_others_are_neither_changed_nor_deleted_by_a_driver(sim: OperatorSim) -> None:
    driver = launch(sim)
    other = {
        "metadata": {"name": "payments", "labels": {"app": "payments"}},
        "spec": {"containers": [{"name": "x", "image": "payments:1"}]},
    }
    sim.server.ask("POST", f"/{driver.path()}", other)
    claimed = {"streamapp.dev/app": "app", "streamapp.dev/role": "executor"}
    for name in ("payments", "app-driver-1"):
        for change in (
            {"spec": {"containers": [{"name": "x", "image": "evil:1"}]}},
            {"metadata": {"labels": claimed}},
        ):
            code, text = driver.call(
                "PATCH", f"{driver.path()}/{name}", change, "application/strategic-merge-patch+json"
            )
            assert code in (403, 422), f"{name}: {code} {text}"
        code, text = driver.call("DELETE", f"{driver.path()}/{name}")
        assert code == 403, text
        assert "only executors of its app" in text
    code, text = driver.call("DELETE", f"{driver.path()}?labelSelector=app%3Dpayments")
    assert code == 403, text
    assert sim.names("pods") == ["app-driver-1", "payments"]


def test_an_executor_is_not_made_into_something_else(sim: OperatorSim) -> None:
    driver = launch(sim)
    assert driver.create(driver.executor())[0] == 201
    path = f"{driver.path()}/app-exec-1"
    labels = driver.executor()["metadata"]["labels"]
    assert {"streamapp.dev/app", "streamapp.dev/role", "spark-app-selector", "spark-exec-id"} <= labels.keys()
    for change in (
        *({"metadata": {"labels": {name: None}}} for name in labels),
        *({"metadata": {"labels": {name: "9"}}} for name in labels),
        {"metadata": {"labels": None}},
        {"metadata": {"finalizers": ["example.com/stays"]}},
        {"spec": {"containers": [{"name": "spark-kubernetes-executor", "image": "evil:1"}]}},
        {"metadata": {"labels": {"app": "payments"}}},
        {"metadata": {"labels": {"streamapp.dev/role": "driver"}}},
        {"metadata": {"ownerReferences": None}},
    ):
        code, text = driver.call("PATCH", path, change, "application/strategic-merge-patch+json")
        assert code in (403, 422), f"{change}: {text}"


def test_the_limits_are_those_of_a_drivers_own_app(sim: OperatorSim) -> None:
    """Each app has limits of its own; what one of them names, the other may not."""
    sim.apply(join("other", **SECRETS))
    sim.settle("other")
    driver = launch(sim)
    pod = driver.executor()
    volume(secret={"secretName": "kafka-client"})(pod)
    assert driver.create(pod)[0] in (403, 422)
    other = Driver(sim, "other")
    code, text = other.create(other.executor())
    assert code == 201, text
    assert driver.call("DELETE", f"{driver.path()}/other-exec-1")[0] == 403
    stranger = driver.executor()
    stranger["metadata"] = other.executor()["metadata"]
    assert driver.create(stranger)[0] in (403, 422)


def test_a_drivers_account_is_of_no_use_outside_of_a_drivers_pod(sim: OperatorSim) -> None:
    driver = launch(sim)
    driver.token = sim.server.ask(
        "POST",
        f"/{driver.path('serviceaccounts')}/app-driver/token",
        {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"},
    )["status"]["token"]
    code, text = driver.create(driver.executor())
    assert code == 403, text
    assert "only the pod of a driver" in text


def test_apps_that_share_an_account_are_held_apart(sim: OperatorSim) -> None:
    sim.installation = replace(sim.installation, allowed=frozenset({Allowance.SERVICE_ACCOUNTS}))
    shared = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "shared"}}
    sim.server.ask("POST", f"/api/v1/namespaces/{sim.namespace}/serviceaccounts", shared)
    sim.apply(join("other", serviceAccountName="shared", **SECRETS))
    sim.settle("other")
    driver = launch(sim, serviceAccountName="shared")
    other = Driver(sim, "other")
    for one in (driver, other):
        code, text = one.create(one.executor())
        assert code == 201, text
    pod = driver.executor(2)
    volume(secret={"secretName": "kafka-client"})(pod)
    assert driver.create(pod)[0] in (403, 422)
    assert driver.call("DELETE", f"{driver.path()}/other-exec-1")[0] == 403
    assert other.create(driver.executor(3))[0] in (403, 422)


def stateful_set(driver: Driver, name: str = "") -> dict[str, Any]:
    """The set of executors as Spark makes it."""
    pod = driver.executor()
    labels = {name: value for name, value in pod["metadata"]["labels"].items() if name.startswith("spark-")}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    pod["spec"]["restartPolicy"] = "Always"
    return {
        "metadata": {
            "name": name or object_names.executor_set(driver.sim.app()["metadata"]["uid"]),
            "ownerReferences": pod["metadata"]["ownerReferences"],
        },
        "spec": {
            "replicas": 1,
            "serviceName": "x",
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": pod["metadata"]["labels"]}, "spec": pod["spec"]},
            "volumeClaimTemplates": [{"metadata": {"name": "streamapp-state"}, "spec": claim}],
        },
    }


CLAIMS = {"state": {"persistentVolumeClaim": {"size": "1Gi"}}}


def test_a_driver_has_one_stateful_set_of_its_executor_template(sim: OperatorSim) -> None:
    driver = launch(sim, **CLAIMS)
    sets = driver.path("statefulsets", "apis/apps/v1")
    made = stateful_set(driver)
    for case, change in {
        "name": lambda one: one["metadata"].update(name="mine"),
        "owner": lambda one: one["metadata"].update(ownerReferences=[]),
        "account": lambda one: one["spec"]["template"]["spec"].update(serviceAccountName="app-driver"),
        "host": lambda one: one["spec"]["template"]["spec"].update(hostNetwork=True),
        "image": lambda one: one["spec"]["template"]["spec"]["containers"][0].update(image="evil:1"),
        "label": lambda one: one["spec"]["template"]["metadata"]["labels"].update(app="payments"),
        "copied claim": lambda one: one["spec"]["volumeClaimTemplates"][0]["spec"].update(
            dataSource={"kind": "PersistentVolumeClaim", "name": "payments"}
        ),
    }.items():
        other = deepcopy(made)
        change(other)
        code, text = driver.call("POST", sets, other)
        assert code in (403, 422), f"{case}: {text}"
    code, text = driver.call("POST", sets, made)
    assert code == 201, text
    name = made["metadata"]["name"]
    scale = {"spec": {"replicas": 3}}
    database = stateful_set(driver, "database")
    sim.server.ask("POST", f"/{sets}", database)
    merge = "application/merge-patch+json"
    code, text = driver.call("PATCH", f"{sets}/{name}", scale, merge)
    assert code == 200, text
    found = json.loads(driver.call("GET", f"{sets}/{name}/scale")[1])
    found["spec"]["replicas"] = 2
    assert driver.call("PUT", f"{sets}/{name}/scale", found)[0] == 200
    found = json.loads(driver.call("GET", f"{sets}/database/scale")[1])
    found["spec"]["replicas"] = 0
    assert driver.call("PUT", f"{sets}/database/scale", found)[0] == 403
    assert driver.call("PATCH", f"{sets}/database", scale, merge)[0] in (403, 422)
    assert driver.call("DELETE", f"{sets}/database")[0] == 403
    assert driver.call("DELETE", f"{sets}/{name}")[0] == 200


@pytest.mark.parametrize("spec", [{}, pytest.param(CLAIMS, marks=pytest.mark.nightly)], ids=["pods", "set"])
def test_spark_itself_gets_its_executors(sim: OperatorSim, tmp_path: Path, spec: dict[str, Any]) -> None:
    """What Spark really sends, with the token of a driver's pod."""
    launch(sim, **spec)
    with asking_for_executors(sim, tmp_path, 2) as spark:
        if spec:
            until(lambda: len(sim.objects("statefulsets", "apis/apps/v1")) == 1, 180, spark)
        else:
            until(lambda: len(sim.names("pods")) == 3, 180, spark)
        assert "ValidatingAdmissionPolicy" not in spark.said()
    if not spec:  # Spark takes its executors away when it ends
        until(lambda: sim.names("pods") == ["app-driver-1"], 60)


def test_the_policies_are_where_the_api_server_has_them(helm: Helm) -> None:
    def policies(*options: str) -> int:
        return sum(one["kind"] == "ValidatingAdmissionPolicy" for one in helm.objects(*options))

    assert policies() == 3
    assert policies("--kube-version=1.29.3") == 0
    assert policies("--set=admission.driverPods=never") == 0
    assert policies("--set=namespaces={shop}") == 0
    assert policies("--set=namespaces={shop},admission.driverPods=always") == 3
