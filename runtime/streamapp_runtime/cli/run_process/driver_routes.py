"""The routes that a driver serves on loopback beside its metrics: its page, and queries of its state."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from streamapp_runtime.driver.page.page_recorder import PageRecorder
from streamapp_runtime.driver.page.page_routes import PREFIX as PAGE_PREFIX
from streamapp_runtime.driver.page.page_routes import PageRoutes
from streamapp_runtime.driver.page.recent_lines import RecentLines
from streamapp_runtime.driver.reporting.metrics_server import Respond
from streamapp_runtime.driver.reporting.run_messages import RunMessage
from streamapp_runtime.driver.state_queries.query_routes import PREFIX as STATE_PREFIX
from streamapp_runtime.driver.state_queries.query_routes import QueryRoutes
from streamapp_runtime.driver.state_queries.state_queries import StateQueries

_WORDS: Mapping[str, tuple[str, str]] = {
    PAGE_PREFIX: ("page", "page"),
    STATE_PREFIX: ("state queries", "stateQueries"),
}
"""What is served below a path, and the event of its announcement."""


@dataclass(frozen=True, slots=True)
class DriverRoutes:
    """The responders of a driver, by the path below which they answer."""

    by_path: Mapping[str, Respond]
    write_message: Callable[[RunMessage], None]

    def announce(self, metrics_url: str) -> None:
        """Say where everything is that the server of these metrics has."""
        for prefix, (words, event) in _WORDS.items():
            if prefix.rstrip("/") in self.by_path:
                url = metrics_url.removesuffix("/metrics") + prefix
                self.write_message(RunMessage(f"{words} at {url}", {"event": event, "url": url}))


def state_routes(
    queries: StateQueries, write_message: Callable[[RunMessage], None], token: str = ""
) -> dict[str, Respond]:
    """The routes for queries of the state, for those who have the token where there is one."""
    routes = QueryRoutes(queries, lambda text, facts: write_message(RunMessage(text, dict(facts))), token)
    return {STATE_PREFIX.rstrip("/"): routes.respond}


@contextmanager
def driver_routes(
    recorder: PageRecorder | None,
    lines: RecentLines,
    queries: StateQueries | None,
    write_message: Callable[[RunMessage], None],
) -> Iterator[DriverRoutes]:
    """The routes that are wanted of the driver, for as long as this lasts."""
    by_path: dict[str, Respond] = {}
    with ExitStack() as served:
        if recorder is not None:
            by_path[PAGE_PREFIX.rstrip("/")] = served.enter_context(PageRoutes(recorder, lines=lines)).respond
        if queries is not None:
            by_path |= state_routes(queries, write_message)
        yield DriverRoutes(by_path, write_message)
