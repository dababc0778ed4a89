"""Figures of apps that run on this machine with a page: asked by the page's address."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection, HTTPException
from typing import Final
from urllib.parse import urlsplit

import click

from streamapp.cli.app_table.app_figures import AppFigures, FiguresReading, RunFigures
from streamapp.cli.app_table.page_figures import ANSWER_SECONDS, PAGE_DATA, ForeignPageError, run_figures
from streamapp.cli.output_option import UnreachableError

NO_ANSWER: Final = "NoAnswer"
UNNAMED: Final = "(starting)"
"""A driver that compiles its app yet does not know what to call it."""


@dataclass(frozen=True, slots=True)
class PageAddress:
    """The address of a page."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/page/"


class PageAddressParameter(click.ParamType[PageAddress]):
    """The address that `streamapp run --page` prints; host and port are enough."""

    name = "address"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> PageAddress:
        """Read an address."""
        text = str(value)
        try:
            parts = urlsplit(text if "//" in text else f"//{text}", scheme="http")
            host, port = parts.hostname, parts.port
        except ValueError as error:
            self.fail(f"{text}: {error}", param, ctx)
        if parts.scheme != "http" or not host or not port:
            self.fail(f"{text} is no address such as http://127.0.0.1:40213/page/", param, ctx)
        return PageAddress(host, port)


@dataclass(slots=True)
class LocalPages:
    """The pages of apps on this machine. Of a driver that stops to answer the last figures stay, and age."""

    addresses: tuple[PageAddress, ...]
    clock: Callable[[], float]  # seconds
    _last: dict[PageAddress, tuple[RunFigures, float]] = field(default_factory=dict)  # and when they came

    def read(self) -> FiguresReading:
        """Ask each page; an UnreachableError where none of them ever answered."""
        apps, notices = [], []
        for address in self.addresses:
            try:
                run = _read_page(address)
                self._last[address] = run, self.clock()
                apps.append(local_app(run))
            except (OSError, HTTPException, ForeignPageError) as error:
                notices.append(f"no answer from {address}: {_reason(error)}")
                if address in self._last:
                    last_run, came_at = self._last[address]
                    app = local_app(last_run)
                    apps.append(replace(app, phase=NO_ANSWER, age=last_run.age + self.clock() - came_at))
        if not apps:
            raise UnreachableError("; ".join(notices))
        return FiguresReading(tuple(apps), tuple(notices))

    def close(self) -> None:
        """Nothing is held between two readings."""


def local_app(run: RunFigures) -> AppFigures:
    """An app on this machine: it has no resource, and so no generation and no operator that restarts it."""
    return AppFigures(
        name=run.app or UNNAMED,
        namespace=None,
        phase=run.state.capitalize(),
        processors=run.processors,
        tasks=len(run.tasks),
        rows_in=run.rows_in,
        rows_out=run.rows_out,
        lag=run.lag,
        behind=run.behind,
        age=run.age,
        run=run,
    )


def _read_page(address: PageAddress) -> RunFigures:
    connection = HTTPConnection(address.host, address.port, timeout=ANSWER_SECONDS)
    try:
        connection.request("GET", PAGE_DATA)
        answer = connection.getresponse()
        return run_figures(answer.status, answer.read())
    finally:
        connection.close()


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"nothing came within {ANSWER_SECONDS:g} s"
    return (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
