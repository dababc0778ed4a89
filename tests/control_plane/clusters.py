"""The operator's own way to the API server, for tests that look at what it does there."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

from streamapp_operator.cluster.access import access
from streamapp_operator.cluster.api import ApiCluster
from streamapp_operator.cluster.calls import Calls

LEADS = 60.0


@asynccontextmanager
async def cluster(
    kubeconfig: Path, counted: list[tuple[str, str]] | None = None, leads: float = LEADS
) -> AsyncIterator[ApiCluster]:
    """A cluster for as long as this lasts; calls are noted by verb and code."""
    noted = counted if counted is not None else []
    calls = Calls(await access(kubeconfig), lambda verb, code: noted.append((verb, code)))
    try:
        yield ApiCluster(calls, (), lambda: leads, lambda: datetime.now(UTC))
    finally:
        await calls.close()
