"""`streamapp claims`: the volume claims of apps, with those that no app needs any more."""

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

import click

from streamapp.cli.option_groups import ClusterAccess
from streamapp.cli.output_option import JSON, aligned_columns, output_option
from streamapp_operator.cli.cluster_access.cluster_command import cluster_options, run_with_cluster
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient
from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import POD, STREAM_APP, VOLUME_CLAIM
from streamapp_operator.reconciler.facts.pod_state import ENDED_PHASES
from streamapp_operator.reconciler.objects.object_names import is_executor_claim
from streamapp_operator.reconciler.pods.embedded_log import log_claim_name


class ClaimUse(StrEnum):
    """The app or pod that needs a claim."""

    MOUNTED = "mounted"
    """A pod that has not ended names it."""
    KEPT = "kept"
    """Its app is there, and would use it again: the app is stopped, or has fewer processors now."""
    LEFT_OVER = "left over"
    """Its app was deleted. An app that is created under the same name makes new claims."""
    DELETED = "deleted"
    """It goes as soon as no pod has it mounted."""


class ClaimContent(StrEnum):
    """The content of a claim."""

    STORES = "stores"
    """Copies of changelogs: they cost a restore."""
    LOG = "log"
    """The streams of an embedded system themselves, and stores."""


@dataclass(frozen=True, slots=True)
class AppClaim:
    """One claim of an app."""

    name: str
    app: str
    holds: ClaimContent
    size: str
    use: ClaimUse
    created: str
    uid: str


@click.group(short_help="List and delete the volume claims of apps on a cluster.")
def claims() -> None:
    """List and delete the volume claims of apps on a cluster.

    Claims stay when their app is deleted, unless its state.reclaimPolicy is Delete.

    \b
    Examples:
      streamapp claims list --namespace shop
      streamapp claims delete --left-over --namespace shop
    """


@claims.command("list", short_help="List the claims, with the app that needs each.")
@click.argument("app", required=False)
@cluster_options
@output_option("text", JSON)
def list_claims(app: str | None, namespace: str, access: ClusterAccess, output: str) -> None:
    """List the claims of APP, or of all apps of the namespace.

    `mounted` claims are in use; `kept` ones would be used again by an existing app; `left over` ones
    belong to deleted apps; `deleted` ones go as soon as no pod has them mounted.

    \b
    Examples:
      streamapp claims list --namespace shop
      streamapp claims list page-views -o json
    """
    listed = run_with_cluster(access, lambda cluster: _read_claims(cluster, namespace, app))
    if output == JSON:
        fields = [{key: value for key, value in asdict(claim).items() if key != "uid"} for claim in listed]
        click.echo(json.dumps({"claims": fields}, indent=2))
        return
    head = ("CLAIM", "APP", "HOLDS", "SIZE", "USE", "CREATED")
    cells = [(claim.name, claim.app, claim.holds, claim.size, claim.use, claim.created) for claim in listed]
    for line in aligned_columns([head, *cells]):
        click.echo(line)


@claims.command("delete", short_help="Delete claims that no app needs.")
@click.argument("names", metavar="[CLAIM]...", nargs=-1)
@cluster_options
@click.option("--left-over", is_flag=True, help="All claims with stores of deleted apps.")
@click.option("--yes", is_flag=True, help="Without asking.")
def delete_claims(
    names: tuple[str, ...],
    namespace: str,
    access: ClusterAccess,
    left_over: bool,
    yes: bool,
) -> None:
    """Delete claims by name, or all that are left over. What becomes of the volumes their class says.

    A claim that a pod has mounted is refused. A claim with the log of an embedded system holds the streams
    themselves, and is deleted only by its name.

    \b
    Examples:
      streamapp claims delete --left-over --namespace shop
      streamapp claims delete page-views-state --namespace shop --yes
    """
    if bool(names) is left_over:
        raise click.UsageError("name claims, or say --left-over")
    listed = run_with_cluster(access, lambda cluster: _read_claims(cluster, namespace, None))
    selected = _left_over(listed) if left_over else _named(listed, names, namespace)
    if not selected:
        click.echo(f"no claim of namespace {namespace} is left over")
        return
    for claim in selected:
        click.echo(f"{claim.name} ({claim.holds} of {claim.app}, {claim.size}, {claim.use})")
    if not yes:
        click.confirm(f"Delete {len(selected)} of {len(listed)} claims?", abort=True)
    gone = run_with_cluster(access, lambda cluster: _delete(cluster, namespace, selected), writes=True)
    click.echo(f"deleted {sum(gone)} of {len(selected)}")
    if not all(gone):
        click.echo("the others have changed or gone meanwhile", err=True)
        sys.exit(1)


def _left_over(listed: Sequence[AppClaim]) -> list[AppClaim]:
    return [
        claim for claim in listed if claim.use is ClaimUse.LEFT_OVER and claim.holds is ClaimContent.STORES
    ]


def _named(listed: Sequence[AppClaim], names: Sequence[str], namespace: str) -> list[AppClaim]:
    """The claims of these names; a ClickException where one is not an app's, or is mounted."""
    by_name = {claim.name: claim for claim in listed}
    for name in names:
        if name not in by_name:
            raise click.ClickException(f'no app of namespace {namespace} has a claim "{name}"')
        if by_name[name].use is ClaimUse.MOUNTED:
            raise click.ClickException(f'claim "{name}" is mounted: suspend app "{by_name[name].app}" first')
    return [by_name[name] for name in dict.fromkeys(names)]


async def _delete(cluster: ApiClusterClient, namespace: str, selected: Sequence[AppClaim]) -> Sequence[bool]:
    return await asyncio.gather(
        *(cluster.delete(VOLUME_CLAIM, namespace, claim.name, claim.uid) for claim in selected)
    )


async def _read_claims(cluster: ApiClusterClient, namespace: str, app: str | None) -> list[AppClaim]:
    """The claims with an app's label, by app and name."""
    selector = APP_LABEL if app is None else f"{APP_LABEL}={app}"
    manifests = [claim async for claim in cluster.list_objects(VOLUME_CLAIM, namespace, selector)]
    apps = cluster.list_objects(STREAM_APP, namespace, metadata_only=True)
    uids = {one["metadata"]["name"]: str(one["metadata"]["uid"]) async for one in apps}
    mounted = {name async for pod in cluster.list_objects(POD, namespace) for name in _mounted(pod)}
    return sorted(
        (_claim(manifest, uids, mounted) for manifest in manifests), key=lambda claim: (claim.app, claim.name)
    )


def _claim(manifest: Manifest, uids: dict[str, str], mounted: set[str]) -> AppClaim:
    metadata = manifest["metadata"]
    name, app = metadata["name"], metadata["labels"][APP_LABEL]
    holds = ClaimContent.LOG if name == log_claim_name(app) else ClaimContent.STORES
    use = _use(metadata, uids.get(app), holds, is_mounted=name in mounted)
    size = manifest["spec"]["resources"].get("requests", {}).get("storage", "")
    return AppClaim(name, app, holds, size, use, metadata["creationTimestamp"], metadata["uid"])


def _use(metadata: Manifest, uid: str | None, holds: ClaimContent, *, is_mounted: bool) -> ClaimUse:
    """The need of a claim whose app has this uid; None where there is no such app."""
    if "deletionTimestamp" in metadata:
        return ClaimUse.DELETED
    if is_mounted:
        return ClaimUse.MOUNTED
    is_own = holds is ClaimContent.LOG or is_executor_claim(metadata["name"], uid or "")
    return ClaimUse.KEPT if uid is not None and is_own else ClaimUse.LEFT_OVER


def _mounted(pod: Manifest) -> list[str]:
    if pod.get("status", {}).get("phase") in ENDED_PHASES:
        return []
    volumes = pod["spec"].get("volumes") or ()
    return [one["persistentVolumeClaim"]["claimName"] for one in volumes if "persistentVolumeClaim" in one]
