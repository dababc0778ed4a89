"""The objects of an app that a driver needs beside its pod and its ConfigMaps."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from streamapp.spec.resource.app import StreamApp
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.installation import AppNetworkRules
from streamapp_operator.reconciler.objects import driver_role, object_names, service_accounts
from streamapp_operator.reconciler.objects.app_network_policy import app_network_policy
from streamapp_operator.reconciler.objects.driver_service import driver_service
from streamapp_operator.reconciler.objects.executor_limits import executor_limits


def driver_objects(
    app: Manifest,
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
        yield service_accounts.driver_service_account(app, spec.driver.service_account_annotations)
    yield service_accounts.executor_service_account(app, spec.executor.service_account_annotations)
    yield driver_role.driver_role(app, claims=spec.state.persistent_volume_claim is not None)
    limits = executor_limits(
        app, executor_templates, token_volumes=bool(spec.executor.service_account_annotations)
    )
    yield driver_role.driver_role_binding(app, account, limits)
