"""Asks the API server whether it would take the pods of a generation, before anything is ended for them."""

from collections.abc import Iterable

from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp_operator.controller.client.api_errors import RejectedError, UnansweredError
from streamapp_operator.controller.client.cluster_client import ClusterClient
from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.planning.pod_refusals import lacks_account, pod_refusal


async def refused_pods(cluster: ClusterClient, pods: Iterable[tuple[str, Manifest]]) -> tuple[Problem, ...]:
    """A problem for each pod that the API server would not take."""
    problems = []
    for path, pod in pods:
        message = await _refusal(cluster, pod)
        if message is not None:
            text = f"the API server refuses the pod: {message}"
            problems.append(Problem(0, 0, path, text, Reason.PODS_REFUSED))
    return tuple(problems)


async def _refusal(cluster: ClusterClient, pod: Manifest) -> str | None:
    try:
        await cluster.try_create(pod)
    except RejectedError as error:
        account = pod["spec"].get("serviceAccountName", "")
        if account in _accounts_of(pod) and lacks_account(error, account):
            # The operator makes this account right before the first start.
            spec = {name: value for name, value in pod["spec"].items() if name != "serviceAccountName"}
            return await _refusal(cluster, {**pod, "spec": spec})
        return pod_refusal(error)
    except UnansweredError as error:
        return f"it gives no answer to a dry run, which is tried again: {error}"
    return None


def _accounts_of(pod: Manifest) -> tuple[str, str]:
    app = pod["metadata"]["labels"][APP_LABEL]
    return object_names.driver_account(app), object_names.executor_account(app)
