"""What resources may name is what the installation lists; anything else is refused, and not read."""

from dataclasses import replace
from typing import Any

import pytest

from streamapp.spec.reasons import Reason
from streamapp.spec.resource.kafka_settings import OAUTH_ENDPOINT
from streamapp_operator.reconciler.installation import AllowLists, Installation
from streamapp_operator.reconciler.planning.acceptance_rules import acceptance_problems
from tests.harness.operator.golden_objects import INSTALLATION, manifest, parsed
from tests.harness.operator.operator_sim import OperatorSim
from tests.harness.operator.small_apps import join

KAFKA = {"bootstrapServers": "kafka:9093", "configSecret": {"name": "payments"}}
TOKENS = {"bootstrapServers": "kafka:9093", "config": {OAUTH_ENDPOINT: "https://Payments:8443/token?a=b"}}
PATH = "spec.executor.template.spec"


def refused(allow_lists: AllowLists, **spec: Any) -> dict[str, str]:
    installation = replace(INSTALLATION, allow_lists=allow_lists)
    problems = acceptance_problems(parsed(manifest(**spec)), installation)
    return {one.path: one.message for one in problems if one.reason is Reason.OUTSIDE_ALLOW_LIST}


def pod(**spec: Any) -> dict[str, Any]:
    return {"executor": {"template": {"spec": spec}}}


def volume(**source: Any) -> dict[str, Any]:
    return pod(volumes=[{"name": "v", **source}])


def sidecar(**container: Any) -> dict[str, Any]:
    return pod(containers=[{"name": "side", "image": "streamapp-runtime:1", **container}])


def variable(**source: Any) -> list[dict[str, Any]]:
    return [{"name": "A", "valueFrom": source}]


_KEY = {"name": "payments", "key": "k"}
_EPHEMERAL = {"volumeClaimTemplate": {"spec": {"dataSource": {"kind": "x", "name": "payments"}}}}
NAMES: list[tuple[dict[str, Any], str]] = [
    ({"systems": [{"name": "main", "kafka": KAFKA}]}, "spec.systems[0].kafka.configSecret.name"),
    ({"systems": [{"name": "main", "kafka": TOKENS}]}, f"spec.systems[0].kafka.config.{OAUTH_ENDPOINT}"),
    ({"imagePullSecrets": [{"name": "payments"}]}, "spec.imagePullSecrets[0].name"),
    ({"env": variable(secretKeyRef=_KEY)}, "spec.env[0].valueFrom.secretKeyRef.name"),
    ({"env": variable(configMapKeyRef=_KEY)}, "spec.env[0].valueFrom.configMapKeyRef.name"),
    ({"code": {"configMap": "payments"}}, "spec.code.configMap"),
    ({"serviceAccountName": "payments"}, "spec.serviceAccountName"),
    ({"image": "payments:1"}, "spec.image"),
    (
        {"driver": {"serviceAccountAnnotations": {"cloud.example/role": "payments"}}},
        "spec.driver.serviceAccountAnnotations.cloud.example/role",
    ),
    (
        {"executor": {"serviceAccountAnnotations": {"cloud.example/role": "payments"}}},
        "spec.executor.serviceAccountAnnotations.cloud.example/role",
    ),
    (sidecar(image="payments:1"), f"{PATH}.containers[0].image"),
    (pod(initContainers=[{"name": "i", "image": "payments:1"}]), f"{PATH}.initContainers[0].image"),
    (sidecar(env=variable(secretKeyRef=_KEY)), f"{PATH}.containers[0].env[0].valueFrom.secretKeyRef.name"),
    (
        sidecar(envFrom=[{"secretRef": {"name": "payments"}}]),
        f"{PATH}.containers[0].envFrom[0].secretRef.name",
    ),
    (
        sidecar(envFrom=[{"configMapRef": {"name": "payments"}}]),
        f"{PATH}.containers[0].envFrom[0].configMapRef.name",
    ),
    (pod(imagePullSecrets=[{"name": "payments"}]), f"{PATH}.imagePullSecrets[0].name"),
    (volume(secret={"secretName": "payments"}), f"{PATH}.volumes[0].secret.secretName"),
    (volume(configMap={"name": "payments"}), f"{PATH}.volumes[0].configMap.name"),
    (
        volume(persistentVolumeClaim={"claimName": "payments"}),
        f"{PATH}.volumes[0].persistentVolumeClaim.claimName",
    ),
    (
        volume(projected={"sources": [{"secret": {"name": "payments"}}]}),
        f"{PATH}.volumes[0].projected.sources[0].secret.name",
    ),
    (
        volume(ephemeral=_EPHEMERAL),
        f"{PATH}.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSource.name",
    ),
    (
        {"driver": volume(secret={"secretName": "payments"})["executor"]},
        "spec.driver.template.spec.volumes[0].secret.secretName",
    ),
]
STRICT = AllowLists(
    images=(), secrets=("kafka-*",), config_maps=("code-*",), claims=(), service_accounts=("loads",)
)
LOOSE = AllowLists(*(("payments",),) * 5, account_annotations=("cloud.example/role=pay*",), hosts=("pay*",))


@pytest.mark.parametrize(("spec", "path"), NAMES, ids=[path for _, path in NAMES])
def test_a_name_outside_of_its_list_is_refused_where_it_stands(spec: dict[str, Any], path: str) -> None:
    (message,) = [message for at, message in refused(STRICT, **spec).items() if at == path]
    assert "payments" in message
    assert path not in refused(LOOSE, **spec)


def test_by_default_everything_may_be_named_but_accounts_and_hosts() -> None:
    paths = {path for spec, _ in NAMES for path in refused(AllowLists(), **spec)}
    assert paths == {
        "spec.serviceAccountName",
        f"spec.systems[0].kafka.config.{OAUTH_ENDPOINT}",
        "spec.driver.serviceAccountAnnotations.cloud.example/role",
        "spec.executor.serviceAccountAnnotations.cloud.example/role",
    }


def test_kinds_of_volumes_may_be_listed() -> None:
    only = AllowLists(volumes=("emptyDir", "secret"))
    assert refused(only, **volume(emptyDir={})) == {}
    assert list(refused(only, **volume(configMap={"name": "x"}))) == [f"{PATH}.volumes[0].configMap"]


@pytest.mark.parametrize(
    ("image", "is_allowed"),
    [
        ("registry.example/team/app:1", True),
        ("registry.example/team:1", True),
        ("registry.example/team@sha256:abc", True),
        ("registry.example/team", True),
        ("registry.example/teams/app:1", False),
        ("registry.example/team-evil", False),
        ("evil.example/registry.example/team/app", False),
        ("registry.example:5000/team/app", False),
        ("app:1", False),
        ("streamapp-runtime:1", True),  # the installation's own
    ],
)
def test_an_image_is_allowed_by_the_beginning_of_its_name(image: str, *, is_allowed: bool) -> None:
    problems = refused(AllowLists(images=("registry.example/team/",)), image=image)
    assert (problems == {}) is is_allowed


def test_a_name_before_a_port_is_no_image() -> None:
    assert refused(AllowLists(images=("team",)), image="team:5000/evil") != {}


def test_a_refused_app_says_so_and_its_secret_is_not_used(sim: OperatorSim) -> None:
    sim.installation = replace(sim.installation, allow_lists=AllowLists(secrets=("kafka-*",)))
    sim.apply(join(systems=[{"name": "main", "kafka": KAFKA}]))
    sim.settle()
    assert sim.says("Accepted") == ("False", "OutsideAllowList")
    message = sim.condition("Accepted")["message"]
    assert 'does not allow the Secret "payments"; it allows kafka-*' in message
    assert sim.table.asked == 0
    assert sim.drivers() == []
    sim.edit(systems=[{"name": "main", "kafka": {**KAFKA, "configSecret": {"name": "kafka-web"}}}])
    sim.settle()
    assert sim.says("Accepted") == ("True", "Accepted")


def test_an_app_that_runs_is_left_alone_by_a_stricter_installation(sim: OperatorSim) -> None:
    sim.bring_up(join(systems=[{"name": "main", "kafka": KAFKA}]))
    before = sim.versions()
    sim.restart()
    sim.installation = Installation(image="streamapp-runtime:test", allow_lists=AllowLists(secrets=()))
    sim.settle()
    assert sim.versions() == before
