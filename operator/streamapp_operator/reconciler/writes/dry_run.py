"""Asks the API server whether it would take the pods of a generation, before anything is ended for them."""

from collections.abc import Collection, Iterable

from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp_operator.controller.client.api_errors import RejectedError, UnansweredError
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.concurrent_calls import side_by_side
from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.planning.pod_refusals import lacks_account, pod_refusal


async def refused_pods(
    cluster: ClusterClient, pods: Iterable[tuple[str, Manifest]], accounts: Collection[str]
) -> tuple[Problem, ...]:
    """A problem for each pod that the API server would not take; `accounts` are there already.

    The operator makes a missing account of the app right before the first start, so that its pods are tried
    without it.
    """
    tried = [(path, pod if _has_account(pod, accounts) else _without_account(pod)) for path, pod in pods]
    refusals = await side_by_side([_refusal(cluster, pod) for _, pod in tried])
    return tuple(
        Problem(0, 0, path, f"the API server refuses the pod: {refusal}", Reason.PODS_REFUSED)
        for (path, _), refusal in zip(tried, refusals, strict=True)
        if refusal is not None
    )


def _has_account(pod: Manifest, accounts: Collection[str]) -> bool:
    account = pod["spec"].get("serviceAccountName", "")
    return account in accounts or account not in _accounts_of(pod)


def _without_account(pod: Manifest) -> Manifest:
    spec = {name: value for name, value in pod["spec"].items() if name != "serviceAccountName"}
    return {**pod, "spec": spec}


async def _refusal(cluster: ClusterClient, pod: Manifest) -> str | None:
    try:
        await cluster.try_create(pod)
    except RejectedError as error:
        account = pod["spec"].get("serviceAccountName", "")
        if account in _accounts_of(pod) and lacks_account(error, account):
            return await _refusal(cluster, _without_account(pod))  # it was deleted just now
        return pod_refusal(error)
    except UnansweredError as error:
        return f"it gives no answer to a dry run, which is tried again: {error}"
    return None


def _accounts_of(pod: Manifest) -> tuple[str, str]:
    app = pod["metadata"]["labels"][APP_LABEL]
    return object_names.driver_account(app), object_names.executor_account(app)
