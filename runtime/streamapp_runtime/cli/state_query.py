"""`streamapp state get` and `scan`: rows of an app's state while the app runs, as of its last batch."""

import json
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPException
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

import click

from streamapp.cli.facts.installed_parts import InstalledPart
from streamapp.cli.option_groups import ClusterAccess, cluster_options
from streamapp.cli.output_option import JSON, UnreachableError, aligned_columns, output_option
from streamapp.protocol.message_names import NEW_SNAPSHOT, STATE_ACCESS_VARIABLE

_CLUSTER: Final = InstalledPart("streamapp.state", "the name of an app on a cluster", "operator")
_ANSWER_SECONDS: Final = 20.0
"""More than a driver takes to say that it has no answer."""
_PAGE_ROWS: Final = 1_000
"""So many rows are asked for at once."""


def _app_options(command: Callable[..., object]) -> Callable[..., object]:
    """Add where the app is, and how rows are printed, to a command."""
    namespace = click.option("-n", "--namespace", help="The app's, on a cluster.")
    return cluster_options(namespace)(output_option("text", JSON)(command))


@click.command(short_help="Print the rows of keys while the app runs.")
@click.argument("app")
@click.argument("table")
@click.argument("keys", metavar="KEY...", nargs=-1, required=True)
@_app_options
def get(
    app: str,
    table: str,
    keys: tuple[str, ...],
    access: ClusterAccess,
    output: str,
) -> None:
    """Print the rows of TABLE that have one of the KEYs, as of the app's last batch.

    APP is the name of an app on a cluster whose spec.stateQueries.enabled is true, or the address that
    `streamapp run --state-queries` says, or that of an app's Service, with the token in the variable
    STREAMAPP_STATE_TOKEN. TABLE is a table, or an operator that keeps state; of a window each open one has a
    row. What `process` and `sendTo` write to a table is looked for in all tasks.

    Exits with 1 where no key has a row, with 3 where the app cannot answer now.

    \b
    Examples:
      streamapp state get page-views users u17 --namespace shop
      streamapp state get http://127.0.0.1:9400 users u17 u18 -o json
    """
    with _address(app, access) as url:
        rows = _ask(url, table, [("key", key) for key in keys])["rows"]
    _print(rows, output)
    if not rows:
        raise SystemExit(1)


@click.command(short_help="Print the rows of a table while the app runs.")
@click.argument("app")
@click.argument("table")
@click.option("--prefix", default="", help="Only the rows of keys that begin with this.")
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True, help="How many at most.")
@click.option("--all", "every", is_flag=True, help="All of them, in place of --limit.")
@_app_options
def scan(
    app: str,
    table: str,
    prefix: str,
    limit: int,
    every: bool,
    access: ClusterAccess,
    output: str,
) -> None:
    """Print the rows of TABLE in order of the key, as of the app's last batch.

    Rows of each task are as of one batch of its lane, however many there are; with batch.independentLanes:
    false all rows are as of the same batch. More than 1,000 are read from a snapshot. It ends where a task
    moves, the app is edited, or very much is written meanwhile; the command says so then and exits with 3.

    \b
    Examples:
      streamapp state scan page-views users --prefix u1 --limit 10 --namespace shop
      streamapp state scan page-views users --all -o json --namespace shop
      streamapp state scan http://127.0.0.1:9400 views-by-hour -o json
    """
    rows: list[dict[str, Any]] = []
    most = math.inf if every else limit
    with _address(app, access) as url:
        answer: dict[str, Any] = {"next": "", "snapshot": "" if most <= _PAGE_ROWS else NEW_SNAPSHOT}
        while "next" in answer and len(rows) < most:
            page = int(min(most - len(rows), _PAGE_ROWS))
            wanted = {"prefix": prefix, "after": answer["next"], "limit": str(page)}
            wanted["snapshot"] = answer.get("snapshot", "")
            answer = _ask(url, table, [(name, value) for name, value in wanted.items() if value])
            rows += answer["rows"]
    shown = rows if every else rows[:limit]
    _print(shown, output)
    if "next" in answer or len(rows) > len(shown):
        click.echo(f"there are more than {limit:,} rows; see --limit, --all and --prefix", err=True)


@contextmanager
def _address(app: str, access: ClusterAccess) -> Iterator[str]:
    """The URL at which the app is asked."""
    if not app.startswith(("http://", "https://")):
        with _CLUSTER.call(app, access) as url:
            yield url
        return
    if access != ClusterAccess():
        raise click.UsageError(
            "an address is of no cluster; leave --namespace, --kubeconfig and --context out"
        )
    if not urlsplit(app).hostname:
        raise click.BadParameter(f'"{app}" names no host', param_hint="APP")
    try:
        yield f"{urlsplit(app).scheme}://{urlsplit(app).netloc}"
    except ConnectionError as error:
        raise UnreachableError(f"no app answers at {app}: {error}") from None


def _ask(url: str, table: str, values: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The answer of the driver; ConnectionError where nobody answers."""
    opener = build_opener(ProxyHandler({}))  # what is on loopback is asked without a proxy
    request = Request(f"{url}/state/{quote(table, safe='')}?{urlencode(values)}")  # noqa: S310 - http or https
    if token := os.environ.get(STATE_ACCESS_VARIABLE):
        request.add_unredirected_header("Authorization", f"Bearer {token}")
    try:
        with opener.open(request, timeout=_ANSWER_SECONDS) as response:
            answer: dict[str, Any] = json.load(response)
            return answer
    except HTTPError as error:
        raise _refused(error) from None
    except URLError as error:
        raise ConnectionError(str(error.reason)) from None
    except (HTTPException, TimeoutError, ValueError) as error:
        raise ConnectionError(str(error) or "it does not answer") from None


def _refused(error: HTTPError) -> click.ClickException:
    try:
        reason = str(json.load(error)["error"])
    except (ValueError, LookupError, TypeError):
        return click.ClickException(f"what is there answers no queries of state: HTTP {error.code}")
    if error.code in {410, 503}:
        return UnreachableError(reason)
    return click.ClickException(reason)


def _print(rows: Sequence[dict[str, Any]], output: str) -> None:
    if output == "json":
        for row in rows:
            click.echo(json.dumps(row, ensure_ascii=False))
        return
    names = list(dict.fromkeys(name for row in rows for name in row["row"]))
    cells = [[row["task"], row["key"], *(row_cell(row["row"], name) for name in names)] for row in rows]
    for line in aligned_columns([["TASK", "KEY", *names], *cells]):
        click.echo(line)


def row_cell(row: dict[str, Any], name: str) -> str:
    """A value as a table shows it; empty where the row has no such column, as in a join's other side."""
    value = row.get(name, "")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
