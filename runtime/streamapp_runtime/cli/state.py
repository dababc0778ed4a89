"""`streamapp state`: look into what apps remember, while they run or after."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamapp.cli.output_option import JSON, aligned_columns, output_option
from streamapp.cli.secrets_option import secrets_option
from streamapp.spec.problem import nearest
from streamapp_runtime.cli.duration_option import seconds_of
from streamapp_runtime.cli.log_access import cli_errors, has_log
from streamapp_runtime.cli.log_commands.log_target import LogTarget, is_app_source
from streamapp_runtime.cli.state_query import get, row_cell, scan

if TYPE_CHECKING:
    from streamapp_runtime.lanes.tables_file import KnownTable
    from streamapp_runtime.systems.stream_system import StreamSystem

STATE = "state"
"""The folder of stores within that of the log."""


@click.group(short_help="List, read, query and clear the state of apps.")
def state() -> None:
    """List, read, query and clear the state of apps.

    `get` and `scan` ask an app that runs, on this machine or on a cluster. The others read the stores on this
    machine, whether an app runs there or not, and do not disturb it: DATA is the folder that an embedded
    system's `path` names, or an app that has one: `app.yaml`. With Kafka it is the folder that
    `streamapp run --data` named.

    \b
    Examples:
      streamapp state list ./data
      streamapp state read ./data users --key u17
      streamapp state get page-views users u17 --namespace shop
    """


@state.command("list", short_help="List the stores.")
@click.argument("data", type=click.Path(path_type=Path))
@output_option("text", JSON)
def list_stores(data: Path, output: str) -> None:
    """List the stores of DATA: their app, their size, and how much of the changelog they contain.

    Tables that are kept in memory have no store here; `streamapp state read` reads those too. RocksDB only
    estimates its entries, which is marked by `~`.
    """
    stores = list(_stores(state_folder(data_folder(data))))
    if output == "json":
        click.echo(json.dumps(stores, indent=2))
        return
    cells = [[str(value) for value in (store | {"entries": _counted(store)}).values()] for store in stores]
    head = ["APP", "TASK", "TABLE", "STORE", "ENTRIES", "BYTES", "CHANGELOG"]
    for line in aligned_columns([head, *cells], numbers=(4, 5, 6)):
        click.echo(line)


@state.command(short_help="Print the rows of a store.")
@click.argument("data", type=click.Path(path_type=Path))
@click.argument("table")
@click.option("--app", "app", metavar="ID", help="The application id, where several apps have such a table.")
@click.option("--task", help="Only the rows of this task.")
@click.option("--key", help="Only the rows of this key.")
@click.option("--limit", type=click.IntRange(0), help="How many rows at most.")
@click.option(
    "--log", metavar="LOG", help="Where the changelogs are of an app on Kafka: the app, or kafka://BROKERS."
)
@secrets_option()
@output_option("text", JSON)
def read(
    data: Path,
    table: str,
    log: str | None,
    secrets: Path | None,
    app: str | None,
    task: str | None,
    key: str | None,
    limit: int | None,
    output: str,
) -> None:
    """Print the rows of TABLE as of the last checkpoints, task by task in order of the key.

    TABLE is a table, or an operator that keeps state: `state list` names both. An aggregate has a row for
    each key and window, with its totals as they are kept: an average as a sum and a count. A join has one for
    each row that may still meet others, and `process` those of its state table.

    They are read from the changelog, which holds what the stores hold. A table that side inputs fill
    has none: its rows are read from its stores, as they are now. The changelogs of an app on Kafka are
    topics: --log names them. With -o json each row is an object of task, key and row.

    \b
    Examples:
      streamapp state read ./data users --limit 10
      streamapp state read ./data users --key u17 -o json
      streamapp state read ./data views-by-hour
      streamapp state read ./data views-by-hour --log app.yaml
    """
    from streamapp_runtime.driver.checkpoints.committed_rows import committed_rows
    from streamapp_runtime.driver.checkpoints.stored_rows import stored_rows
    from streamapp_runtime.stores.store import StoreKind

    folder = data_folder(data)
    with cli_errors(), ExitStack() as opened:
        owner, known_table = _find_table(state_folder(folder), table, app)
        if known_table.changelog is None and known_table.store == StoreKind.MEMORY:
            raise click.ClickException(
                f'"{table}" is kept in memory only, so that its rows cannot be read from outside the app'
            )
        chosen_key = None if key is None else key.encode()
        if known_table.changelog is None:
            tasks = stored_rows(folder / STATE, owner, known_table, chosen_key)
        else:
            system = opened.enter_context(_changelogs(folder, table, log, secrets))
            tasks = committed_rows(system, owner, known_table, chosen_key)
        chosen = (part for part in tasks if task in {None, part.task})
        shown = islice((row for part in chosen for row in part.objects()), limit)
        if output == "json":
            for row in shown:
                click.echo(json.dumps(row, ensure_ascii=False))
            return
        names = known_table.column_names
        cells = [[row["task"], row["key"], *(row_cell(row["row"], name) for name in names)] for row in shown]
        for line in aligned_columns([["TASK", "KEY", *names], *cells]):
            click.echo(line)


@state.command(short_help="Delete stores that no app owns any more.")
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--app", "app", metavar="ID", help="Only those of this application id.")
@click.option(
    "--older-than",
    "age",
    metavar="DURATION",
    default="1d",
    show_default=True,
    help="Leave stores that were touched later.",
)
@click.option("--dry-run", is_flag=True, help="List what would be deleted, and delete nothing.")
@output_option("text", JSON)
def gc(data: Path, app: str | None, age: str, dry_run: bool, output: str) -> None:
    """Delete the stores of DATA that no app owns any more.

    Those are stores of a table that the app has no more, of a task that is not in its layout, of a run before
    its state was reset, and all stores of an app whose streams no longer exist. The app's last start recorded
    the stores that it owns. A store that some process holds is never touched. Each start of an app does the
    same with its own stores, if they were not touched for a day.

    \b
    Examples:
      streamapp state gc ./data --dry-run
      streamapp state gc ./data --older-than 1h
    """
    from streamapp_runtime.cli.state_gc import collect_garbage

    data = data_folder(data)
    collected = list(collect_garbage(data, state_folder(data), app, seconds_of(age, "--older-than"), dry_run))
    if output == "json":
        click.echo(json.dumps([collected_store.facts() for collected_store in collected], indent=2))
        return
    rows = [[s.application_id, s.task, s.table, str(s.size)] for s in (each.store for each in collected)]
    cells = [[*row, each.store.why, each.done] for row, each in zip(rows, collected, strict=True)]
    for line in (
        aligned_columns([["APP", "TASK", "TABLE", "BYTES", "WHY", ""], *cells], numbers=(3,))
        if collected
        else ()
    ):
        click.echo(line)
    freed = [each.store.size for each in collected if each.counts]
    verb = "would be taken away" if dry_run else "taken away"
    click.echo(f"{len(freed)} {'store' if len(freed) == 1 else 'stores'} {verb}, {sum(freed):,} bytes")


def data_folder(data: Path) -> Path:
    """The folder that an argument DATA names: itself, or that of an app's embedded system."""
    from streamapp.cli.app_sources import one_app

    if not is_app_source(str(data)):
        return data
    embedded = one_app(str(data), None).spec.home.embedded
    if embedded is None:
        raise click.UsageError(
            "the streams of this app are on Kafka: name the folder that `streamapp run --data` named"
            ", and for its changelogs the app with --log"
        )
    return Path(embedded.path)


@contextmanager
def _changelogs(folder: Path, table: str, log: str | None, secrets: Path | None) -> "Iterator[StreamSystem]":
    """The system with the changelog of a table: the log in the data folder, or the one that was named."""
    if log is None and not has_log(folder):
        raise click.UsageError(
            f'the changelog of "{table}" is not in {folder}: name the app on Kafka that wrote it with --log'
        )
    with LogTarget(str(folder) if log is None else log, secrets, None).streams(None) as streams:
        yield streams.system


def state_folder(data: Path) -> Path:
    """The folder of stores in a data folder; an error where there is none."""
    if not (data / STATE).is_dir():
        raise click.ClickException(f"no state in {data}: no app has run there")
    return data / STATE


def _counted(store: Mapping[str, Any]) -> str:
    """The entries of a store, marked where they are an estimate."""
    return "~" * (store["store"] == "rocksdb" and store["entries"] is not None) + str(store["entries"])


def _stores(root: Path) -> Iterator[dict[str, Any]]:
    from streamapp_runtime.stores.directories.state_directory import stored_apps
    from streamapp_runtime.stores.directories.store_stats import app_store_stats

    for application_id in sorted(stored_apps(root)):
        for task, table, stats in app_store_stats(root, application_id):
            yield {
                "app": application_id,
                "task": task.removeprefix("\0"),
                "table": table,
                "store": stats.kind,
                "entries": stats.entries,
                "bytes": stats.size,
                "changelog": stats.mark.changelog if stats.mark else 0,
            }


def _find_table(root: Path, table: str, app: str | None) -> "tuple[str, KnownTable]":
    """The app that has the table, and the table."""
    from streamapp_runtime.lanes.tables_file import read_tables_file as read_tables

    apps = read_tables(root)
    if app is not None and app not in apps:
        raise click.BadParameter(f'no state of an app "{app}"{nearest(app, list(apps))}', param_hint="--app")
    matches = [
        (owner, known_table)
        for owner, tables in apps.items()
        for known_table in tables
        if known_table.name == table and app in {None, owner}
    ]
    if len(matches) > 1:
        owners = ", ".join(owner for owner, _ in matches)
        raise click.UsageError(f'the apps {owners} have a table "{table}"; choose one with --app')
    if not matches:
        names = sorted({known_table.name for tables in apps.values() for known_table in tables})
        raise click.ClickException(
            f'no table and no operator with state named "{table}"{nearest(table, names)}'
        )
    return matches[0]


state.add_command(get)
state.add_command(scan)
