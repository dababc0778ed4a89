"""The objects of an app that a driver needs beside its pod and its ConfigMaps."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.installation import AppNetworkRules
from streamapp_operator.reconciler.objects import driver_role, object_names
from streamapp_operator.reconciler.objects.driver_service import METRICS, UI, driver_service
from streamapp_operator.reconciler.objects.executor_limits import executor_limits
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, metadata_for

_WHOLE_CLUSTER: Final[tuple[dict[str, Any], ...]] = ({"namespaceSelector": {}},)
_DNS: Final = {"ports": [{"protocol": "UDP", "port": 53}, {"protocol": "TCP", "port": 53}]}


def app_network_policy(app: Manifest, rules: AppNetworkRules) -> Manifest:
    """The policy. Pods of the app reach each other; others reach what the installation's rules let them."""
    name = app["metadata"]["name"]
    own_pods = {"podSelector": {"matchLabels": {APP_LABEL: name}}}
    ingress: list[dict[str, Any]] = [
        {"from": [own_pods]},
        {"from": list(rules.scrapers or _WHOLE_CLUSTER), "ports": [_tcp(METRICS)]},
    ]
    if rules.viewers:
        ingress.append({"from": list(rules.viewers), "ports": [_tcp(UI)]})
    spec: dict[str, Any] = {**own_pods, "policyTypes": ["Ingress"], "ingress": ingress}
    if rules.egress:
        spec["policyTypes"].append("Egress")
        spec["egress"] = [_DNS, {"to": [own_pods]}, *rules.egress]
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": metadata_for(app, object_names.network_policy(name), ObjectRole.NETWORK),
        "spec": spec,
    }


def _tcp(port: int) -> dict[str, Any]:
    return {"protocol": "TCP", "port": port}


def driver_service_account(app: Manifest, annotations: Mapping[str, str]) -> Manifest:
    """The account of the driver pod."""
    name = object_names.driver_account(app["metadata"]["name"])
    return _account(app, name, ObjectRole.DRIVER, annotations)


def executor_service_account(app: Manifest, annotations: Mapping[str, str]) -> Manifest:
    """An account without rights, and without a token."""
    name = object_names.executor_account(app["metadata"]["name"])
    return _account(app, name, ObjectRole.EXECUTOR, annotations)


def _account(app: Manifest, name: str, role: ObjectRole, annotations: Mapping[str, str]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata_for(app, name, role, annotations=annotations),
        "automountServiceAccountToken": False,  # the driver pod enables it; no other pod gets it by accident
    }


def driver_objects(
    app: Manifest,
    run_uid: str,
    accepted: StreamApp,
    executor_templates: Sequence[Mapping[str, Any]],
    network_rules: AppNetworkRules | None,
) -> Iterator[Manifest]:
    """Service, accounts, Role and RoleBinding of an accepted app; a NetworkPolicy where there are rules.

    The templates are those of all generations whose drivers may make executors.
    """
    spec, name = accepted.spec, app["metadata"]["name"]
    account = spec.service_account_name or object_names.driver_account(name)
    if network_rules is not None:
        yield app_network_policy(app, network_rules)
    yield driver_service(app)
    if spec.service_account_name is None:
        yield driver_service_account(app, spec.driver.service_account_annotations)
    yield executor_service_account(app, spec.executor.service_account_annotations)
    yield driver_role.driver_role(app, claims=spec.state.persistent_volume_claim is not None)
    limits = executor_limits(
        run_uid, executor_templates, token_volumes=bool(spec.executor.service_account_annotations)
    )
    yield driver_role.driver_role_binding(app, account, limits)
