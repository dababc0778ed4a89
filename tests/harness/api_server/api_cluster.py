"""The operator's own way to the API server, for tests that look at what it does there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.client_configuration import load_configuration

LEADS = 60.0


@asynccontextmanager
async def cluster(
    kubeconfig: Path, counted: list[tuple[str, str]] | None = None, leads: float = LEADS
) -> AsyncIterator[ApiClusterClient]:
    """A cluster for as long as this lasts; calls are noted by verb and code."""
    noted = counted if counted is not None else []
    calls = ApiTransport(await load_configuration(kubeconfig), lambda verb, code: noted.append((verb, code)))
    try:
        yield ApiClusterClient(calls, (), lambda: leads, lambda: datetime.now(UTC))
    finally:
        await calls.close()
