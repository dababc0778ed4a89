"""Answers requests for the page: its files, its data, its plan as SVG, and a stream of events."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Event, Lock
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import parse_qs

from streamapp.plan.render.diagram.diagram_builder import build_diagram
from streamapp.plan.render.drawing import svg_style
from streamapp.plan.render.drawing.markup import element
from streamapp.plan.render.drawing.svg_document import drawing
from streamapp.plan.render.drawing.theme import variables
from streamapp.plan.render.web_page.page_script import ZOOM_SCRIPT
from streamapp.served_pages.page_safety import PAGE_HEADERS
from streamapp.served_pages.shared_assets import SCRIPT_TYPE, STYLE_TYPE, Assets, page_asset
from streamapp_runtime.driver.loopback_requests import refusal_of
from streamapp_runtime.driver.page.app_snapshot import (
    app_snapshot,
    live_fields,
    stream_growth,
    stream_history,
    stream_rows,
)
from streamapp_runtime.driver.page.page_recorder import PageRecorder
from streamapp_runtime.driver.page.recent_lines import RecentLines
from streamapp_runtime.driver.page.run_facts import RunFacts
from streamapp_runtime.driver.page.running_app import RunningApp

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

EVENT_SECONDS: Final = 2.0
"""Seconds between two events."""
MOST_VIEWERS: Final = 16
"""So many streams of events at a time: each has a thread."""
PREFIX: Final = "/page/"
HIDDEN_LINES: Final = "hidden, since lines may repeat values: --show-values or page.showValues shows them\n"
_TEXT: Final = "text/plain; charset=utf-8"
_JSON: Final = "application/json; charset=utf-8"
_ASSETS: Final[Assets] = {
    "": ("app_page.html", "text/html; charset=utf-8"),
    "app_page.css": ("app_page.css", STYLE_TYPE),
    "app_page.js": ("app_page.js", SCRIPT_TYPE),
    "plan_picture.js": ("plan_picture.js", SCRIPT_TYPE),
    "uPlot.min.css": ("uPlot.min.css", STYLE_TYPE),
    "uPlot.iife.min.js": ("uPlot.iife.min.js", SCRIPT_TYPE),
    "uPlot.LICENSE": ("uPlot.LICENSE", _TEXT),
}
_OF_STREAM: Final[Mapping[str, Callable[[RunFacts, str], Mapping[str, object] | None]]] = {
    "history": stream_history,
    "growth": stream_growth,
    "rows": stream_rows,
}
_THEME: Final = variables(":root") + svg_style.STYLE


@dataclass(slots=True)
class PageRoutes:
    """The page of one run. Left as a context, it ends the streams of events."""

    recorder: PageRecorder
    event_seconds: float = EVENT_SECONDS
    lines: RecentLines = field(default_factory=RecentLines)
    ended: Event = field(default_factory=Event)  # ends all streams of events
    _lock: Lock = field(default_factory=Lock)
    _viewers: int = 0
    _drawn: tuple[RunningApp | None, bytes] = (None, b"")
    _event: tuple[float, bytes] = (0.0, b"")  # the last one that was made, and of when

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()

    def respond(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Answer a request of a path that begins with /page."""

        def answer(status: str, kind: str, content: bytes, *headers: tuple[str, str]) -> list[bytes]:
            length = ("Content-Length", str(len(content)))
            start_response(status, [("Content-Type", kind), length, *PAGE_HEADERS, *headers])
            return [content]

        refusal = refusal_of(environ)
        name = environ["PATH_INFO"].removeprefix(PREFIX)
        if refusal is not None:
            status, text = refusal
            return answer(status, _TEXT, text)
        if environ["PATH_INFO"] == PREFIX.rstrip("/"):
            return answer("308 Permanent Redirect", _TEXT, b"", ("Location", PREFIX))
        if name == "events":
            return self._stream(start_response, answer)
        of_stream = _OF_STREAM.get(name)
        content = self._content(name) if of_stream is None else self._of_stream(environ, of_stream)
        if content is None:
            return answer("404 Not Found", _TEXT, b"look at /page/\n")
        return answer("200 OK", *content)

    def _content(self, name: str) -> tuple[str, bytes] | None:
        """The type and the bytes of what is there under a name."""
        if name not in _MADE:
            return page_asset(name, __package__, _ASSETS)
        kind, make = _MADE[name]
        return kind, make(self)

    def data(self) -> bytes:
        """All that the page shows, but for the picture of the plan."""
        return _json(app_snapshot(self.recorder.facts()))

    def resource(self) -> bytes:
        """The resource that runs, without secrets and what equals a default."""
        app = self.recorder.facts().app
        return (app.on_demand.resource() if app else "").encode()

    def last_lines(self) -> bytes:
        """The last lines of the run, where values are shown."""
        return (self.lines.text() if self.recorder.show_values else HIDDEN_LINES).encode()

    def _of_stream(
        self, environ: "WSGIEnvironment", answer: Callable[[RunFacts, str], Mapping[str, object] | None]
    ) -> tuple[str, bytes] | None:
        """The answer about the stream that a request names; None where the app has no such stream."""
        streams = parse_qs(environ.get("QUERY_STRING", "")).get("stream", [])
        fields = answer(self.recorder.facts(), streams[0]) if len(streams) == 1 else None
        return None if fields is None else (_JSON, _json(fields))

    def _stream(self, start_response: "StartResponse", answer: Callable[..., list[bytes]]) -> Iterable[bytes]:
        with self._lock:
            if self._viewers >= MOST_VIEWERS:
                busy = f"{MOST_VIEWERS} pages are open already\n".encode()
                return answer("503 Service Unavailable", _TEXT, busy, ("Retry-After", "10"))
            self._viewers += 1
        start_response("200 OK", [("Content-Type", "text/event-stream"), *PAGE_HEADERS])
        return _Events(self)

    def release(self) -> None:
        """Note that a viewer is gone."""
        with self._lock:
            self._viewers -= 1

    def event(self) -> bytes:
        """The newest event: one for all viewers of a moment."""
        with self._lock:
            facts = self.recorder.facts()
            if abs(facts.now - self._event[0]) > self.event_seconds / 2:
                self._event = (facts.now, b"data: " + _json(live_fields(facts)) + b"\n\n")
            return self._event[1]

    def plan(self) -> bytes:
        """The picture of the plan, drawn once for each model."""
        app = self.recorder.facts().app
        if app is None:
            return element("svg", xmlns="http://www.w3.org/2000/svg").encode()
        with self._lock:
            if self._drawn[0] is not app:
                self._drawn = app, _drawn(app)
            return self._drawn[1]


_MADE: Final[Mapping[str, tuple[str, Callable[[PageRoutes], bytes]]]] = {
    "data": (_JSON, PageRoutes.data),
    "plan.svg": ("image/svg+xml", PageRoutes.plan),
    "plan.css": (STYLE_TYPE, lambda _: _THEME.encode()),
    "resource.yaml": (_TEXT, PageRoutes.resource),
    "lines.txt": (_TEXT, PageRoutes.last_lines),
    "drawing_zoom.js": (SCRIPT_TYPE, lambda _: ZOOM_SCRIPT.encode()),
}
"""The files that are made when they are asked for: their type, and how."""


class _Events:
    """A stream of events. The server closes it when its viewer is gone, also before the first event."""

    def __init__(self, routes: PageRoutes) -> None:
        self._routes = routes
        self._released = False

    def __iter__(self) -> Iterator[bytes]:
        yield b"retry: 2000\n\n"
        while not self._routes.ended.is_set():
            yield self._routes.event()
            self._routes.ended.wait(self._routes.event_seconds)

    def close(self) -> None:
        """Make room for another viewer."""
        if not self._released:
            self._released = True
            self._routes.release()


def _drawn(app: RunningApp) -> bytes:
    body, width, height = drawing(build_diagram(app.graph, app.plan), focusable=True)
    return element(
        "svg",
        element("rect", class_="ground", width=width, height=height),
        body,
        xmlns="http://www.w3.org/2000/svg",
        class_="plan",
        role="group",
        aria_label=f"Plan of {app.name}",
        viewBox=f"0 0 {width:g} {height:g}",
        width=width,
        height=height,
    ).encode()


def _json(fields: Mapping[str, object]) -> bytes:
    return json.dumps(fields, separators=(",", ":"), allow_nan=False).encode()
