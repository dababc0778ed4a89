"""`streamapp rollback`: writes a spec that an app ran with into its resource."""

import sys
from dataclasses import replace
from typing import NoReturn

import click

from streamapp.author.problems import task_problems
from streamapp.author.start_problems import start_problems
from streamapp.cli.facts.count_options import CountOptions, known_partitions
from streamapp.cli.facts.live_lookup import LookupRefusedError
from streamapp.cli.facts.offline_proposal import displayed_plan, show_rejected_plan
from streamapp.cli.option_groups import ClusterAccess
from streamapp.plan.partition_plan import PlanOutcome
from streamapp.spec.parser import parse_data
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data
from streamapp.spec.spec_revision import revised_app, rolled_back
from streamapp_operator.cli.cluster_access.app_history import (
    AppHistory,
    RevisionEntry,
    read_history,
    readable_app,
    spec_diff,
)
from streamapp_operator.cli.cluster_access.cluster_command import cluster_options, run_with_cluster
from streamapp_operator.cli.look import look
from streamapp_operator.controller.client.api_errors import WriteConflict
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.pause import is_paused

FIELD_MANAGER = "streamapp-rollback"
_GITOPS_MARKS = {
    "argocd.argoproj.io/tracking-id": "Argo CD",
    "argocd.argoproj.io/instance": "Argo CD",
    "kustomize.toolkit.fluxcd.io/name": "Flux",
    "helm.toolkit.fluxcd.io/name": "Flux",
}
_GITOPS_FIELD_MANAGERS = {
    "argocd-controller": "Argo CD",
    "kustomize-controller": "Flux",
    "helm-controller": "Flux",
}


@click.command(short_help="Put an app on a cluster back to a spec that it ran with.")
@click.argument("app")
@cluster_options
@click.option(
    "--to-revision",
    type=click.IntRange(1),
    metavar="N",
    help="Left out: the newest that differs from what the resource says now.",
)
@click.option("--dry-run", is_flag=True, help="Judge it and show what would change; write nothing.")
def rollback(
    app: str,
    namespace: str,
    access: ClusterAccess,
    to_revision: int | None,
    dry_run: bool,
) -> None:
    """Write the spec of an earlier revision of APP into its resource.

    Processors, suspend, the nonces and revisionHistoryLimit stay as they are. The spec is first judged as an
    apply of it would be: by the API server, and as `streamapp plan --cluster` does. The operator judges it as
    any other edit, and a change that existing state forbids is refused: the way back through that is a reset.
    Exits with 1 where the rollback is refused.

    \b
    Examples:
      streamapp rollback page-views --namespace shop --dry-run
      streamapp rollback page-views --to-revision 3
    """
    app_history = run_with_cluster(access, lambda cluster: read_history(cluster, namespace, app))
    entry = _selected(app_history, to_revision)
    manifest = app_history.manifest
    spec = rolled_back(manifest["spec"], as_data(readable_app(entry))["spec"])
    target = _parsed({**manifest, "spec": spec})
    _write(access, manifest, spec, dry_run=True)
    _judge(target, replace(access, namespace=namespace))
    for warning in _warnings(manifest):
        click.echo(f"warning: {warning}", err=True)
    if app_history.present_app is not None:
        names = (f"generation {manifest['metadata']['generation']}", f"revision {entry.number}")
        click.echo(spec_diff(app_history.present_app, revised_app(target), names), nl=False)
    if dry_run:
        click.echo("nothing was written")
        return
    written = _write(access, manifest, spec, dry_run=False)
    generation = written["metadata"]["generation"]
    click.echo(f"generation {generation} has the spec of revision {entry.number}")


def _selected(app_history: AppHistory, number: int | None) -> RevisionEntry:
    """The revision to go back to; a ClickException where there is none, or it is the present one."""
    present, name = app_history.present_number, app_history.manifest["metadata"]["name"]
    if number is not None:
        entry = app_history.entry(number)
        if number == present:
            raise click.ClickException(
                f"the resource has the spec of revision {number} now; to start the driver again, "
                "raise spec.restartNonce"
            )
        return entry
    earlier = [entry for entry in app_history.revisions if entry.number != present]
    if not earlier:
        raise click.ClickException(f'app "{name}" has no spec to go back to; see streamapp history {name}')
    return earlier[-1]


def _parsed(manifest: Manifest) -> StreamApp:
    parsed = parse_data(manifest)
    if parsed.problems:
        _refuse(parsed.problems)
    return parsed.apps[0]


def _judge(app: StreamApp, access: ClusterAccess) -> None:
    """Refuse what the operator would refuse, as far as that can be known from here."""
    try:
        live_facts = look(app, access)
        proposal = displayed_plan(app, live_facts, known_partitions(app, CountOptions(), live_facts))
    except (LookupRefusedError, click.ClickException) as error:
        message = error.message if isinstance(error, click.ClickException) else str(error)
        click.echo(f"warning: only the operator can plan it: {message}", err=True)
        return
    problems = live_facts.problems + task_problems(app, proposal) + start_problems(app)
    is_rejected = proposal.plan.outcome is PlanOutcome.REJECTED
    if is_rejected:
        show_rejected_plan(app.metadata.name, proposal)
    if is_rejected or problems:
        _refuse(problems)


def _refuse(problems: tuple[Problem, ...]) -> NoReturn:
    """Exit with the problems of the spec."""
    for problem in problems:
        click.echo(f"{problem.path}: {problem.message}", err=True)
    click.echo("nothing was written: the operator would refuse this spec", err=True)
    sys.exit(1)


def _write(access: ClusterAccess, app: Manifest, spec: Manifest, *, dry_run: bool) -> Manifest:
    written = run_with_cluster(
        access,
        lambda cluster: cluster.replace_spec(app, spec, FIELD_MANAGER, dry_run=dry_run),
        writes=True,
    )
    if written is WriteConflict.CONFLICT:
        raise click.ClickException("the resource has changed meanwhile; look at it, and try again")
    return written


def _warnings(app: Manifest) -> list[str]:
    warnings = []
    if manager := _gitops_manager(app["metadata"]):
        warnings.append(
            f"{manager} applies this resource from a repository and will undo the rollback; "
            "revert the commit there"
        )
    if is_paused(app):
        warnings.append("reconciliation of the app is paused: the operator acts when that has ended")
    return warnings


def _gitops_manager(metadata: Manifest) -> str | None:
    """The tool that applies the resource from a repository; None where nothing says that one does."""
    marks = {*(metadata.get("labels") or {}), *(metadata.get("annotations") or {})}
    managers = {entry.get("manager") for entry in metadata.get("managedFields") or ()}
    by_mark = [name for mark, name in _GITOPS_MARKS.items() if mark in marks]
    by_manager = [name for manager, name in _GITOPS_FIELD_MANAGERS.items() if manager in managers]
    return next(iter((*by_mark, *by_manager)), None)
