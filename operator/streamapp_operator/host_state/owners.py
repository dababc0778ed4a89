"""Edge: which apps there are, by namespace and applicationId."""

from collections.abc import Sequence
from datetime import UTC, datetime

from streamapp_operator.cluster.access import access
from streamapp_operator.cluster.api import ApiCluster
from streamapp_operator.cluster.calls import Calls
from streamapp_operator.cluster.kinds import STREAM_APP
from streamapp_operator.cluster.manifest import Manifest


async def owners(namespaces: Sequence[str]) -> set[tuple[str, str]]:
    """All apps, of every operatorClass: whoever looks after them, the folders are theirs."""
    calls = Calls(await access(), lambda _, __: None)
    try:
        cluster = ApiCluster(calls, namespaces, lambda: 0.0, lambda: datetime.now(UTC))
        return {owner(app) async for app in cluster.listed(STREAM_APP, None)}
    finally:
        await calls.close()


def owner(app: Manifest) -> tuple[str, str]:
    """As its folder names it; an app that is wrong in all else keeps its state too."""
    name, namespace = app["metadata"]["name"], app["metadata"]["namespace"]
    return namespace, app["spec"].get("applicationId") or f"{namespace}.{name}"
