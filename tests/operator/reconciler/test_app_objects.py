"""The objects of an app, whole and in what matters most."""

from typing import Any

import pytest

from streamapp_operator.reconciler.objects.executor_limits import executor_limits
from streamapp_operator.reconciler.pods.executor_template import spark_name_label
from streamapp_operator.reconciler.pods.memory_split import MemorySplit, split_memory
from streamapp_operator.reconciler.pods.pod_shape import pod_shape, read_pod_shape
from streamapp_operator.reconciler.pods.template_merge import name_resolution, node_tolerations
from tests.harness.operator.golden_objects import CASES, FOLDER, INSTALLATION, manifest, objects, parsed, text


def made(case: str) -> dict[str, dict[str, Any]]:
    return {f"{one['kind']}/{one['metadata']['name']}": one for one in objects(manifest(**CASES[case]))}


def driver(case: str) -> dict[str, Any]:
    spec: dict[str, Any] = made(case)["Pod/app-driver-7"]["spec"]
    return spec


def executor(case: str) -> dict[str, Any]:
    return dict(pod_shape(parsed(manifest(**CASES[case])), INSTALLATION, "5b1c").executor)["spec"]


def conf(case: str) -> dict[str, str]:
    return dict(pod_shape(parsed(manifest(**CASES[case])), INSTALLATION, "5b1c").spark_conf)


@pytest.mark.parametrize("case", CASES)
def test_objects_are_as_they_were_written_down(case: str) -> None:
    assert text(case) == (FOLDER / f"{case}.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_every_object_goes_with_its_app(case: str) -> None:
    for one in objects(manifest(**CASES[case])):
        (owner,) = one["metadata"]["ownerReferences"]
        assert (owner["uid"], owner["controller"]) == ("5b1c", True)
        assert one["metadata"]["labels"]["streamapp.dev/app"] == "app"


@pytest.mark.parametrize("case", CASES)
def test_a_shape_is_read_as_it_was_kept(case: str) -> None:
    found = pod_shape(parsed(manifest(**CASES[case])), INSTALLATION, "5b1c")
    assert read_pod_shape(found.files()) == found


def test_a_lost_node_is_borne_for_half_a_minute_unless_the_template_says_otherwise() -> None:
    def seconds(*tolerations: dict[str, Any]) -> dict[str, int | None]:
        borne = node_tolerations({"spec": {"tolerations": list(tolerations)}} if tolerations else {})
        return {one.get("key", ""): one.get("tolerationSeconds") for one in borne}

    not_ready, unreachable = "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"
    assert seconds() == {not_ready: 30, unreachable: 30}
    assert seconds({"key": "batch"}) == {"batch": None, not_ready: 30, unreachable: 30}
    own = {"key": unreachable, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 600}
    assert seconds(own) == {unreachable: 600, not_ready: 30}
    assert seconds({"operator": "Exists"}) == {"": None}
    for spec in (driver("plain"), executor("plain")):
        assert [one["tolerationSeconds"] for one in spec["tolerations"]] == [30, 30]


def test_a_name_server_is_waited_for_a_second_unless_the_template_says_otherwise() -> None:
    def resolution(**config: Any) -> dict[str, Any]:
        return name_resolution({"spec": {"dnsConfig": config}} if config else {})

    timeout, attempts = {"name": "timeout", "value": "1"}, {"name": "attempts", "value": "2"}
    assert resolution() == {"options": [timeout, attempts]}
    own = {"name": "timeout", "value": "3"}
    assert resolution(options=[own]) == {"options": [own, attempts]}
    assert resolution(searches=["corp"]) == {"searches": ["corp"], "options": [timeout, attempts]}
    for spec in (driver("plain"), executor("plain")):
        assert spec["dnsConfig"] == {"options": [timeout, attempts]}


@pytest.mark.parametrize("case", CASES)
def test_pods_meet_the_restricted_standard_where_their_volume_allows(case: str) -> None:
    for spec in (driver(case), executor(case)):
        assert spec["securityContext"]["runAsNonRoot"]
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not spec["enableServiceLinks"]
        own = next(
            one for one in spec["containers"] if one["name"] in {"driver", "spark-kubernetes-executor"}
        )
        assert own["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        }
    roots = executor(case).get("initContainers", [])
    assert bool(roots) == (case == "host-path")


def test_executors_have_no_token() -> None:
    assert executor("plain")["automountServiceAccountToken"] is False
    assert executor("plain")["serviceAccountName"] == "app-executor"


def test_a_role_names_its_objects() -> None:
    rules = made("plain")["Role/app-driver"]["rules"]
    named = {name for rule in rules for name in rule.get("resourceNames", ())}
    assert named == {"app-job-model", "app-report"}
    assert all("*" not in rule["verbs"] + rule["resources"] for rule in rules)
    open_ = {resource for rule in rules if "resourceNames" not in rule for resource in rule["resources"]}
    assert open_ == {"pods"}


def test_secrets_are_mounted_and_nowhere_else() -> None:
    spec = driver("with-all")
    volume, of_the_run = [one for one in spec["volumes"] if "secret" in one]
    assert of_the_run["secret"]["secretName"] == "app-driver-7-run"
    assert volume["secret"]["secretName"] == "kafka-client"
    (mount,) = [one for one in spec["containers"][-1]["volumeMounts"] if one["name"] == volume["name"]]
    assert mount["mountPath"] == "/etc/streamapp/secrets/main"
    everything = text("with-all")
    # Both templates, the pod and its annotation, the limits, the app and its revision.
    assert everything.count("kafka-client") == 7


def test_the_state_of_an_app_is_below_the_allowed_root_in_a_folder_of_its_own() -> None:
    (volume,) = [one for one in executor("host-path")["volumes"] if "hostPath" in one]
    assert volume["hostPath"]["path"] == "/data/state/shop/shop.app"


def test_claims_come_by_a_stateful_set_whose_name_stays() -> None:
    settings = conf("claims")
    assert settings["spark.kubernetes.allocation.pods.allocator"] == "statefulset"
    assert settings["spark.app.id"] == conf("plain")["spark.app.id"]
    volume = "spark.kubernetes.executor.volumes.persistentVolumeClaim.streamapp-state."
    assert settings[f"{volume}options.sizeLimit"] == "10Gi"
    assert settings[f"{volume}label.streamapp.dev/app"] == "app"


def test_the_least_pod_that_is_taken_has_the_heap_that_spark_starts_with() -> None:
    assert split_memory("736Mi", "executor") == MemorySplit(480, 256)


def test_the_heap_and_what_is_beside_it_are_the_memory_that_was_asked_for() -> None:
    settings = conf("with-all")
    heap, beside = (
        int(settings[name].removesuffix("m"))
        for name in ("spark.executor.memory", "spark.executor.memoryOverhead")
    )
    assert heap + beside == 8 * 1024
    assert heap < beside


def test_the_user_s_template_is_kept_beneath_ours() -> None:
    spec = driver("with-all")
    assert spec["nodeSelector"] == {"disk": "ssd"}
    assert [one["name"] for one in spec["containers"]] == ["watcher", "driver"]
    assert spec["restartPolicy"] == "Never"
    assert made("with-all")["Pod/app-driver-7"]["metadata"]["annotations"]["team"] == "web"


def test_an_embedded_log_is_on_a_claim_of_the_driver() -> None:
    (volume,) = [one for one in driver("embedded")["volumes"] if "persistentVolumeClaim" in one]
    claim = made("embedded")[f"PersistentVolumeClaim/{volume['persistentVolumeClaim']['claimName']}"]
    assert claim["spec"]["storageClassName"] == "fast"


def test_each_container_of_a_template_is_restricted_unless_it_says_otherwise() -> None:
    containers = [
        {"name": "plain", "image": "side:1"},
        {"name": "netted", "image": "side:1", "securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}},
        {"name": "powerful", "image": "side:1", "securityContext": {"privileged": True}},
    ]
    template = {"spec": {"containers": containers[1:], "initContainers": containers[:1]}}
    made = parsed(manifest(executor={"template": template}))
    spec = dict(pod_shape(made, INSTALLATION, "5b1c").executor)["spec"]
    contexts = {one["name"]: one["securityContext"] for one in spec["containers"] + spec["initContainers"]}
    restricted = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert contexts["plain"] == contexts["spark-kubernetes-executor"] == restricted
    assert contexts["netted"]["capabilities"] == {"drop": ["ALL"], "add": ["NET_ADMIN"]}
    assert contexts["powerful"] == {"privileged": True, "capabilities": {"drop": ["ALL"]}}


@pytest.mark.parametrize(
    ("application_id", "label"),
    [
        ("shop.page-views", "shop-page-views"),
        ("Shop.Page__Views.", "shop-page-views"),
        ("--a..b", "a-b"),
        (f"{'a' * 62}.b", "a" * 62),
        ("a" * 80, "a" * 63),
    ],
)
def test_the_template_has_the_label_that_spark_makes_of_an_apps_name(application_id: str, label: str) -> None:
    assert spark_name_label(application_id) == label


@pytest.mark.parametrize("identity", ["serviceAccountToken", "podCertificate"])
def test_an_identity_in_a_template_is_a_limit_of_what_its_driver_makes(identity: str) -> None:
    source = {identity: {"path": "t"}}
    template = {"spec": {"volumes": [{"name": "v", "projected": {"sources": [source]}}]}}
    app = manifest(executor={"template": template})
    assert f"power/{identity}" not in executor_limits("5b1c", [shape_of(manifest())], token_volumes=False)
    assert f"power/{identity}" in executor_limits("5b1c", [shape_of(app)], token_volumes=False).splitlines()


def shape_of(app: dict[str, Any]) -> dict[str, Any]:
    return dict(pod_shape(parsed(app), INSTALLATION, "5b1c").executor)
