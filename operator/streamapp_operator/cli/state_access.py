"""The state of an app on a cluster, for `streamapp state get` and `scan`."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Final

import click

from streamapp.cli.facts.live_lookup import ClusterAccess
from streamapp_operator.cli.cluster_access.cluster_command import DEFAULT_NAMESPACE
from streamapp_operator.cli.cluster_access.forwarded_driver import HOST, ForwardedDriver, ServedPart

_STATE: Final = ServedPart("stateQueries", "answers no queries of its state")


@contextmanager
def forwarded_state(app: str, access: ClusterAccess) -> Iterator[str]:
    """The address on this machine at which an app's driver is asked, for as long as this lasts."""
    reasons: list[str] = []
    namespace = access.namespace or DEFAULT_NAMESPACE
    driver = ForwardedDriver(app, namespace, access.kubeconfig, access.context, _STATE, reasons.append)
    driver.check()
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        started = asyncio.start_server(driver.forward, HOST, 0)
        server = asyncio.run_coroutine_threadsafe(started, loop).result()
        try:
            yield f"http://{HOST}:{server.sockets[0].getsockname()[1]}"
        except ConnectionError as error:
            raise click.ClickException(reasons[-1] if reasons else str(error)) from None
        finally:
            loop.call_soon_threadsafe(server.close)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
