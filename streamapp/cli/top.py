"""`streamapp top`: how apps go, in a table that refreshes in place."""

import json
import sys
import time
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime

import click

from streamapp.cli.app_table.app_details import detail_lines
from streamapp.cli.app_table.app_figures import AppFigures, FiguresReading, FiguresSource
from streamapp.cli.app_table.figures_table import (
    SORTS,
    fitted,
    reading_document,
    sorted_apps,
    table_lines,
)
from streamapp.cli.app_table.local_pages import NO_ANSWER, LocalPages, PageAddress, PageAddressParameter
from streamapp.cli.app_table.table_screen import ScreenLine, TableScreen, is_screen, table_screen
from streamapp.cli.facts.installed_parts import InstalledPart
from streamapp.cli.option_groups import ClusterAccess, cluster_options
from streamapp.cli.output_option import JSON, UnreachableError, output_option

_CLUSTER = InstalledPart("streamapp.top", "top without --page", "operator")


@click.command(short_help="Show how apps go, in a table that refreshes.")
@click.argument("app", required=False)
@click.option(
    "--page",
    "pages",
    metavar="ADDRESS",
    multiple=True,
    type=PageAddressParameter(),
    help="The page of an app on this machine, as `run --page` prints it; may be repeated.",
)
@cluster_options(
    click.option("-n", "--namespace", help="Of the cluster; `default` when left out."),
    click.option("-A", "--all-namespaces", is_flag=True, help="The apps of all namespaces."),
)
@click.option("--sort", type=click.Choice(SORTS), default="lag", show_default=True, help="By which column.")
@click.option(
    "--interval",
    type=click.FloatRange(0.5, 3_600),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Between two refreshes.",
)
@click.option("--once", is_flag=True, help="Print the table once; so it is where the output is no terminal.")
@output_option("text", JSON)
def top(
    app: str | None,
    pages: tuple[PageAddress, ...],
    access: ClusterAccess,
    all_namespaces: bool,
    sort: str,
    interval: float,
    once: bool,
    output: str,
) -> None:
    """Show the state of all apps of a namespace, or APP with its streams, tables and tasks.

    On a terminal the table refreshes in place until Ctrl-C, and then the previous screen is restored. In a
    pipe, with --once and with -o json it is printed once.

    Rates, the exact lag and watermarks come from the page of an app's driver (spec.page.enabled, or
    `streamapp run --page`). Of an app without a page the lag is at most the power of two that its driver
    reports, and a dash means unknown.

    Exits with 1 when APP does not exist, and with 3 when nothing answers.

    \b
    Examples:
      streamapp top --namespace shop
      streamapp top page-views --namespace shop
      streamapp top -A --sort restarts --once
      streamapp top --page http://127.0.0.1:40213/page/
    """
    if pages and (app or all_namespaces or access != ClusterAccess()):
        raise click.UsageError("--page is about apps on this machine; leave out what names apps of a cluster")
    if all_namespaces and (app or access.namespace):
        raise click.UsageError("-A is about all apps; leave out APP and --namespace")
    source: FiguresSource = (
        LocalPages(pages, time.monotonic) if pages else _CLUSTER.call(access, app, all_namespaces)
    )
    view = TopView(sort, all_namespaces, app is not None or len(pages) == 1)
    with closing(source):
        if output == JSON:
            click.echo(json.dumps(reading_document(source.read(), sort), indent=2))
        elif once or not is_screen(sys.stdout):
            view.print(source.read())
        else:
            reading = source.read()  # what is wrong with the request is said before the screen changes
            with suppress(KeyboardInterrupt), table_screen(sys.stdout) as screen:
                view.refresh(screen, source, reading, interval)


@dataclass(frozen=True, slots=True)
class TopView:
    """The parts of each reading that are shown, and their order."""

    sort: str
    namespaces: bool
    detailed: bool  # with streams, tables and tasks

    def print(self, reading: FiguresReading) -> None:
        """Print a reading, at whatever width it takes; what could not be read goes to standard error."""
        for line in self._table(reading, None):
            click.echo(line.text)
        for notice in reading.notices:
            click.echo(f"not read: {fitted(notice, None)}", err=True)

    def refresh(
        self, screen: TableScreen, source: FiguresSource, reading: FiguresReading, interval: float
    ) -> None:
        """Show readings until an interrupt. Where nothing answers, the last one stays beside the reason."""
        read_at = datetime.now().astimezone()
        while True:
            until = time.monotonic() + interval
            while True:
                screen.show(self._screen_lines(reading, screen.size.columns, f"{read_at:%H:%M:%S}", interval))
                if not screen.wait(max(0.0, until - time.monotonic())):
                    break
            try:
                reading, read_at = source.read(), datetime.now().astimezone()
            except UnreachableError as error:
                reading = replace(reading, notices=(error.format_message(),))
            except click.ClickException as error:  # the app is gone, or may no longer be read
                reading = FiguresReading((), (error.format_message(),))

    def _screen_lines(
        self, reading: FiguresReading, width: int, read_at: str, interval: float
    ) -> list[ScreenLine]:
        number = len(reading.apps)
        apps = f"{number} app{'s' * (number != 1)}"
        title = f"{read_at}  {apps} by {self.sort}, every {interval:g} s; Ctrl-C ends it"
        notices = [ScreenLine(fitted(notice, width), colour="red") for notice in reading.notices]
        return [ScreenLine(fitted(title, width)), *notices, ScreenLine(""), *self._table(reading, width)]

    def _table(self, reading: FiguresReading, width: int | None) -> list[ScreenLine]:
        apps = sorted_apps(reading.apps, self.sort)
        head, *rows = table_lines(apps, width, namespaces=self.namespaces)
        lines = [ScreenLine(head, bold=True)]
        for app, row in zip(apps, rows, strict=True):
            lines.append(ScreenLine(row, colour="red" if _wants_attention(app) else None))
            if self.detailed and app.run is not None:
                lines += [ScreenLine(line) for line in detail_lines(app.run, width)]
        return lines


def _wants_attention(app: AppFigures) -> bool:
    return app.ready == "False" or app.phase == NO_ANSWER
