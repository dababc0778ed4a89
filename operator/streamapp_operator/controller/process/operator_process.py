"""The operator as a process: in which order it begins, and how it ends."""

import asyncio
import logging
import random
import signal
import socket
from collections.abc import Callable
from time import monotonic
from typing import Any, cast
from uuid import uuid4

import kopf

from streamapp_operator.controller.client.api_errors import ClusterError, UnansweredError
from streamapp_operator.controller.client.app_key import AppKey
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.process.operator_options import OperatorOptions, lease_namespace
from streamapp_operator.controller.process.operator_parts import OperatorParts, Reconciler, build_operator
from streamapp_operator.controller.rbac.namespace_access import NamespaceAccessibleError
from streamapp_operator.controller.telemetry.http_endpoints import serve_endpoints
from streamapp_operator.controller.watch.kopf_watch import handler_registry, kopf_connection, kopf_settings
from streamapp_operator.controller.workqueue.liveness import QueueStuckError
from streamapp_operator.controller.workqueue.retry_backoff import RetryBackoff
from streamapp_operator.controller.workqueue.workers import WorkerPool

SHUTDOWN_SECONDS = 5.0
"""Seconds that each part gets to end."""
_log = logging.getLogger(__name__)


async def run_operator(options: OperatorOptions, reconciling: Callable[[OperatorParts], Reconciler]) -> int:
    """Be an operator until told to stop, or until something ends that should not; the exit code."""
    identity = options.identity or f"{socket.gethostname()}_{uuid4()}"
    made = await build_operator(options, identity, lease_namespace(options))
    filled, told = asyncio.Event(), asyncio.Event()
    try:
        async with serve_endpoints(
            options.host,
            options.port,
            made.pulse.wrong,
            lambda: "" if filled.is_set() else "the cache is not filled yet",
            made.measured.registry,
        ) as port:
            _log.info("serving", extra={"port": port, "identity": identity})
            return await _until_one_ends(
                made,
                {
                    "pulse": asyncio.create_task(made.pulse.listen()),
                    "lead": asyncio.create_task(_lead(made, options, reconciling(made), filled)),
                    "cache": asyncio.create_task(_keep_cache(made, filled, options.patience.look)),
                    "watch": asyncio.create_task(_watch(made, options, told)),
                },
                told,
            )
    finally:
        await made.close()


async def _until_one_ends(
    made: OperatorParts, tasks: dict[str, "asyncio.Task[None]"], told: asyncio.Event
) -> int:
    """None of them ends by itself, so the first that does is the end of all."""
    telling = asyncio.create_task(told.wait())
    await asyncio.wait({telling, *tasks.values()}, return_when=asyncio.FIRST_COMPLETED)
    for name, task in tasks.items():
        if task.done():
            error = task.exception()
            _log.error(
                "%s ended: %s",
                name,
                error or "for no reason",
                exc_info=None
                if isinstance(error, ClusterError | QueueStuckError | NamespaceAccessibleError)
                else error,
            )
    if told.is_set():
        _log.info("told to stop")
    telling.cancel()
    # Whoever leads next must not meet a write of ours: first the work ends, then the lease is given back.
    for name in ("lead", "cache", "pulse", "watch"):
        await _ended(tasks[name])
        if name == "lead":
            await made.elector.release()
    return 0 if told.is_set() else 1


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait({task}, timeout=SHUTDOWN_SECONDS)


async def _lead(
    made: OperatorParts, options: OperatorOptions, reconcile: Reconciler, filled: asyncio.Event
) -> None:
    """Wait to lead, then reconcile for as long as it lasts."""
    await filled.wait()
    await made.elector.campaign()
    for key in made.cache.apps():
        made.queue.add(key)
    workers = WorkerPool(
        queue=made.queue,
        reconcile=reconcile,
        generation=lambda key: _generation(made, key),
        passed=made.pulse.passed,
        backoff=RetryBackoff(random.random),
        measured=made.measured,
        clock=monotonic,
    )
    parts = [
        asyncio.create_task(part)
        for part in (made.elector.keep(), made.pulse.beat(), workers.drain(options.workers))
    ]
    try:
        done, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        for part in done:
            part.result()
    finally:
        for part in parts:
            part.cancel()
        await asyncio.wait(parts, timeout=SHUTDOWN_SECONDS)


async def _keep_cache(made: OperatorParts, filled: asyncio.Event, look: float) -> None:
    """Fill the cache, then compare it whenever it is time."""
    while not filled.is_set():
        try:
            await made.fill()
            filled.set()
        except UnansweredError as error:
            _log.warning("the cache could not be filled: %s", error)
            await asyncio.sleep(look)
    while True:
        await asyncio.sleep(look)
        try:
            await made.compare()
        except UnansweredError as error:  # one that was refused will be again: the next process looks anew
            _log.warning("the cache could not be compared: %s", error)


async def _watch(made: OperatorParts, options: OperatorOptions, told: asyncio.Event) -> None:
    """Let kopf watch. It takes the signals, and we take them back: work ends before watching does."""

    async def login() -> kopf.ConnectionInfo:
        return kopf_connection(await load_configuration(options.kubeconfig, options.context))

    others = asyncio.all_tasks()
    tasks = await kopf.spawn_tasks(
        registry=handler_registry(made.seen, login),
        settings=kopf_settings(options.patience),
        namespaces=made.cluster.namespaces,
        clusterwide=not made.cluster.namespaces,
        identity=cast("Any", "streamapp-operator"),  # else kopf asks for our user's name, and a pod has none
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    await kopf.run_tasks(tasks, ignored=others)


def _generation(made: OperatorParts, key: AppKey) -> int | None:
    app = made.cache.app(key)
    return app["metadata"]["generation"] if app else None
