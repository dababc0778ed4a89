"""The lanes of this process's Spark session: their server, and the one exchange that is open.

Resident lanes hold every slot of Spark. No other job may begin before they are closed, and here that is seen
to for all who begin one.
"""

import socket
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Final

from pyspark import SparkContext

from streamapp.protocol.message_names import LANES_PORT
from streamapp.protocol.run_authentication import RPC_ENCRYPTION
from streamapp_runtime.driver.executors.batch_exchange import BatchExchange
from streamapp_runtime.driver.executors.executor_probe import ExecutorProbe
from streamapp_runtime.driver.executors.lane_certificate import make_certificate
from streamapp_runtime.driver.executors.lane_server import LaneServer
from streamapp_runtime.driver.spark.spark_session import live_executors

ANY_PORT: Final = "0"


@dataclass(slots=True)
class SessionLanes:
    """The server of one session, and what runs its batches now."""

    server: LaneServer
    probe: ExecutorProbe
    exchange: BatchExchange | None = None
    look: Callable[[], None] = lambda: None  # at the executors of which reports are awaited
    identities: dict[str, str] = field(default_factory=dict)  # of executors whose workers were started

    def close_exchange(self) -> None:
        """End the lanes that are open, if there are any."""
        if self.exchange is not None:
            self.exchange.close()
            self.exchange = None

    def take_identities(self, executors: Collection[str]) -> list[str]:
        """The identities that workers of these executors reported; empty where one has not reported its own.

        They are given once. Where lanes find themselves elsewhere they are bound again, and are asked then.
        """
        identities, self.identities = self.identities, {}
        return [identities[name] for name in executors] if identities.keys() >= set(executors) else []

    def look_for_executors(self) -> None:
        """Ask the executors that a batch waits for whether they are there."""
        self.look()


_open: dict[str, SessionLanes] = {}
"""By Spark's name of the application; a process has one Spark at a time."""


def session_lanes(context: SparkContext) -> SessionLanes:
    """The lanes of a session; their server is started with the first of them."""
    application = context.applicationId
    if application not in _open:
        close_lanes()
        _open[application] = SessionLanes(_server(context), ExecutorProbe(context))
    return _open[application]


def answering_executors(context: SparkContext) -> dict[str, str]:
    """The executors that live, id -> host, but for those that leave a question unanswered."""
    silent_executors = session_lanes(context).probe.silent_executors()
    return {name: host for name, host in live_executors(context).items() if name not in silent_executors}


def end_open_lanes() -> None:
    """Free the slots of Spark that lanes hold."""
    for lanes in _open.values():
        lanes.close_exchange()


def close_lanes() -> None:
    """End all lanes of this process, and their server."""
    end_open_lanes()
    for lanes in _open.values():
        lanes.server.close()
    _open.clear()


def _server(context: SparkContext) -> LaneServer:
    if (context.master or "").startswith("local"):
        return LaneServer()
    settings = context.getConf()
    host, bind = driver_address(context)
    port = int(str(settings.get(LANES_PORT, ANY_PORT)))
    is_encrypted = settings.get(RPC_ENCRYPTION) == "true"
    certificate = make_certificate(context) if is_encrypted else None
    return LaneServer(host, bind, port, certificate=certificate)


def driver_address(context: SparkContext) -> tuple[str, str]:
    """The address at which workers reach this driver, and the address that it binds."""
    settings = context.getConf()
    host = str(settings.get("spark.driver.host", "127.0.0.1"))
    return _own_address(host), str(settings.get("spark.driver.bindAddress", host))


def _own_address(host: str) -> str:
    """The address of this driver's host, so that workers need no name server; its name where none is known.

    A pod knows its own name, which is the first part of that of its host, from a file.
    """
    name = host.partition(".")[0]
    if name != socket.gethostname():
        return host
    try:
        return str(socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        return host
