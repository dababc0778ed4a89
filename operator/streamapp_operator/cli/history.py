"""`streamapp history`: the specs that an app on a cluster ran with."""

import json
from collections.abc import Iterator
from typing import Any

import click

from streamapp.cli.option_groups import ClusterAccess
from streamapp.cli.output_option import JSON, aligned_columns, output_option
from streamapp.spec.serialization import as_data, spec_as_yaml
from streamapp.spec.spec_revision import changed_fields
from streamapp_operator.cli.cluster_access.app_history import (
    AppHistory,
    RevisionEntry,
    read_history,
    readable_app,
    spec_diff,
)
from streamapp_operator.cli.cluster_access.cluster_command import cluster_options, run_with_cluster


@click.command(short_help="List the specs that an app on a cluster ran with.")
@click.argument("app")
@cluster_options
@click.option("--revision", type=click.IntRange(1), metavar="N", help="Show the spec of this one.")
@click.option("--against", type=click.IntRange(1), metavar="M", help="With --revision: what differs from M.")
@output_option("text", JSON)
def history(
    app: str,
    namespace: str,
    access: ClusterAccess,
    revision: int | None,
    against: int | None,
    output: str,
) -> None:
    """List the specs that drivers of APP ran with, and what each of them changed.

    A spec has a new number when a driver runs it again. Processors, suspend, the nonces and
    revisionHistoryLimit are no part of it. The number marked with * is what the resource says now.

    \b
    Examples:
      streamapp history page-views --namespace shop
      streamapp history page-views --revision 3
      streamapp history page-views --revision 3 --against 2
    """
    if against is not None and revision is None:
        raise click.UsageError("--against goes with --revision")
    app_history = run_with_cluster(access, lambda cluster: read_history(cluster, namespace, app))
    if revision is None:
        echo = json.dumps(_document(app_history), indent=2) + "\n" if output == JSON else _table(app_history)
    elif against is None:
        entry = app_history.entry(revision)
        spec = readable_app(entry)
        fields = {**_fields(entry, app_history), "spec": as_data(spec)["spec"]}
        echo = json.dumps(fields, indent=2) + "\n" if output == JSON else spec_as_yaml(spec)
    else:
        before, after = (readable_app(app_history.entry(number)) for number in (against, revision))
        changed = {"revision": revision, "against": against, "changed": changed_fields(before, after)}
        names = (f"revision {against}", f"revision {revision}")
        echo = json.dumps(changed, indent=2) + "\n" if output == JSON else spec_diff(before, after, names)
    click.echo(echo, nl=False)


def _document(app_history: AppHistory) -> dict[str, Any]:
    return {"revisions": [_fields(entry, app_history) for entry in app_history.revisions]}


def _fields(entry: RevisionEntry, app_history: AppHistory) -> dict[str, Any]:
    return {
        "revision": entry.number,
        "generation": int(entry.generation) if entry.generation.isdecimal() else None,
        "recordedAt": entry.recorded_at,
        "changed": entry.changed.split(", ") if entry.changed else [],
        "isPresent": entry.number == app_history.present_number,
    }


def _table(app_history: AppHistory) -> str:
    present = app_history.present_number
    rows = [("REVISION", "GENERATION", "WHEN", "CHANGED")]
    rows += [
        (
            f"{entry.number} *" if entry.number == present else str(entry.number),
            entry.generation,
            entry.recorded_at,
            entry.changed or "-",
        )
        for entry in app_history.revisions
    ]
    return "\n".join([*aligned_columns(rows), *_remark(app_history)]) + "\n"


def _remark(app_history: AppHistory) -> Iterator[str]:
    """A line where the resource says something that is not in the list."""
    if app_history.present_number is None:
        generation = app_history.manifest["metadata"]["generation"]
        yield f"generation {generation} of the resource is not among them: no driver has run it"
