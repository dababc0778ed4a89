"""The operator process: the order of its start and of its shutdown."""

import asyncio
import logging
import random
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from time import monotonic
from typing import Any, cast
from uuid import uuid4

import kopf
from aiohttp import web

from streamapp_operator.controller.client.api_errors import (
    ClusterError,
    DefinitionMissingError,
    UnansweredError,
)
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.client.manifest import AppKey
from streamapp_operator.controller.process.operator_options import OperatorOptions, lease_namespace
from streamapp_operator.controller.process.operator_parts import OperatorParts, Reconciler, build_operator
from streamapp_operator.controller.rbac.namespace_access import NamespaceAccessibleError
from streamapp_operator.controller.telemetry.bounded_http import serve_bounded
from streamapp_operator.controller.telemetry.http_endpoints import serve_endpoints
from streamapp_operator.controller.watch.kopf_watch import handler_registry, kopf_connection, kopf_settings
from streamapp_operator.controller.workqueue.liveness import QueueStuckError
from streamapp_operator.controller.workqueue.retry_backoff import RetryBackoff
from streamapp_operator.controller.workqueue.workers import WorkerPool

SHUTDOWN_SECONDS = 5.0
"""Seconds that each task gets to end."""
SWITCH_SECONDS = 0.0005
"""After this time a thread that plans a large app lets the event loop go on."""
_log = logging.getLogger(__name__)


async def run_operator(
    options: OperatorOptions,
    build_reconciler: Callable[[OperatorParts], Reconciler],
    build_page: Callable[[OperatorParts], web.Application | None] = lambda _: None,
) -> int:
    """Run the operator until a signal stops it or one of its tasks fails; the exit code."""
    sys.setswitchinterval(SWITCH_SECONDS)
    identity = options.identity or f"{socket.gethostname()}_{uuid4()}"
    operator = await build_operator(options, identity, lease_namespace(options))
    cache_filled, stop_requested = asyncio.Event(), asyncio.Event()
    try:
        async with (
            serve_endpoints(
                options.host,
                options.port,
                operator.liveness.problem,
                lambda: "" if cache_filled.is_set() else "the cache is not filled yet",
                operator.metrics.registry,
            ) as port,
            AsyncExitStack() as stack,
        ):
            _log.info("serving", extra={"port": port, "identity": identity})
            if (page := build_page(operator)) is not None:
                page_port = await stack.enter_async_context(
                    serve_bounded(options.host, options.page_port, page)
                )
                _log.info("serving the page of all apps", extra={"page_port": page_port})
            return await _run_until_first_end(
                operator,
                {
                    "pulse": asyncio.create_task(operator.liveness.measure_lag()),
                    "lead": asyncio.create_task(
                        _lead(operator, options, build_reconciler(operator), cache_filled)
                    ),
                    "cache": asyncio.create_task(
                        _keep_cache(operator, cache_filled, options.watch_timeouts.check_every)
                    ),
                    "watch": asyncio.create_task(_watch(operator, options, stop_requested)),
                },
                stop_requested,
            )
    finally:
        await operator.close()


async def _run_until_first_end(
    operator: OperatorParts, tasks: dict[str, "asyncio.Task[None]"], stop_requested: asyncio.Event
) -> int:
    """Await the first task that ends, then stop the others: in normal operation none ends by itself."""
    stop_task = asyncio.create_task(stop_requested.wait())
    await asyncio.wait({stop_task, *tasks.values()}, return_when=asyncio.FIRST_COMPLETED)
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
    if stop_requested.is_set():
        _log.info("asked to stop")
    stop_task.cancel()
    # The next leader must not meet a write of this replica: the workers stop before the lease is released.
    for name in ("lead", "cache", "pulse", "watch"):
        await _cancel(tasks[name])
        if name == "lead":
            await operator.elector.release()
    return 0 if stop_requested.is_set() else 1


async def _cancel(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.wait({task}, timeout=SHUTDOWN_SECONDS)


async def _lead(
    operator: OperatorParts, options: OperatorOptions, reconcile: Reconciler, cache_filled: asyncio.Event
) -> None:
    """Wait until this replica leads, then reconcile for as long as it does."""
    await cache_filled.wait()
    await operator.elector.campaign()
    for key in operator.cache.apps():
        operator.queue.add(key)
    workers = WorkerPool(
        queue=operator.queue,
        reconcile=reconcile,
        generation=lambda key: _generation(operator, key),
        on_key_done=operator.liveness.key_passed,
        backoff=RetryBackoff(random.random),
        metrics=operator.metrics,
        clock=monotonic,
    )
    parts = [
        asyncio.create_task(part)
        for part in (
            operator.elector.keep_leading(),
            operator.liveness.check_queue(),
            workers.run(options.workers),
        )
    ]
    try:
        done, _ = await asyncio.wait(parts, return_when=asyncio.FIRST_COMPLETED)
        for part in done:
            part.result()
    finally:
        for part in parts:
            part.cancel()
        await asyncio.wait(parts, timeout=SHUTDOWN_SECONDS)


async def _keep_cache(operator: OperatorParts, cache_filled: asyncio.Event, check_every: float) -> None:
    """Fill the cache, then compare it with the API server whenever that is due."""
    while not cache_filled.is_set():
        try:
            await operator.fill_cache()
            cache_filled.set()
        except (UnansweredError, DefinitionMissingError) as error:
            _log.warning("the cache could not be filled: %s", error)
            await asyncio.sleep(check_every)
    while True:
        await asyncio.sleep(check_every)
        try:
            await operator.compare_cache()
        except UnansweredError as error:  # a rejected request ends the process: a retry would be rejected too
            _log.warning("the cache could not be compared: %s", error)


async def _watch(operator: OperatorParts, options: OperatorOptions, stop_requested: asyncio.Event) -> None:
    """Let kopf watch. Its signal handlers are replaced, so that the workers stop before the watches do."""

    async def login() -> kopf.AiohttpSession:
        return kopf_connection(await load_configuration(options.kubeconfig, options.context))

    other_tasks = asyncio.all_tasks()
    tasks = await kopf.spawn_tasks(
        registry=handler_registry(operator.on_event, login),
        settings=kopf_settings(options.watch_timeouts),
        namespaces=operator.cluster.namespaces,
        clusterwide=not operator.cluster.namespaces,
        # Without an identity kopf looks up the user's name, which a pod lacks.
        identity=cast("Any", "streamapp-operator"),
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop_requested.set)
    await kopf.run_tasks(tasks, ignored=other_tasks)


def _generation(operator: OperatorParts, key: AppKey) -> int | None:
    app = operator.cache.app(key)
    return app["metadata"]["generation"] if app else None
