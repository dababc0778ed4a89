"""The state of an app on a cluster, for `streamapp state get` and `scan`."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Thread
from typing import Final

import click

from streamapp.cli.option_groups import ClusterAccess
from streamapp_operator.cli.cluster_access.cluster_command import DEFAULT_NAMESPACE
from streamapp_operator.cli.cluster_access.forwarded_driver import HOST, ForwardedDriver, ServedPart

_STATE: Final = ServedPart("stateQueries", "answers no queries of its state")


@contextmanager
def forwarded_state(app: str, access: ClusterAccess) -> Iterator[str]:
    """The address on this machine at which an app's driver is asked, for as long as this lasts."""
    reasons: list[str] = []
    namespace = access.namespace or DEFAULT_NAMESPACE
    driver = ForwardedDriver(app, namespace, access, _STATE, reasons.append)
    driver.check()
    begun: Future[tuple[int, Callable[[], object]]] = Future()
    thread = Thread(target=lambda: asyncio.run(_serve(driver, begun)), daemon=True)
    thread.start()
    port, stop = begun.result()
    try:
        yield f"http://{HOST}:{port}"
    except ConnectionError as error:
        raise click.ClickException(reasons[-1] if reasons else str(error)) from None
    finally:
        stop()
        thread.join()


async def _serve(driver: ForwardedDriver, begun: "Future[tuple[int, Callable[[], object]]]") -> None:
    """Forward connections until it is stopped; `begun` gets the port, and what stops it."""
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    try:
        server = await asyncio.start_server(driver.forward, HOST, 0)
    except OSError as error:
        begun.set_exception(error)
        return
    begun.set_result((server.sockets[0].getsockname()[1], lambda: loop.call_soon_threadsafe(stopped.set)))
    await stopped.wait()
    server.close()
