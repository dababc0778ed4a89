"""`streamapp bundle`: one archive with what a maintainer needs to help with an app, without secrets."""

from pathlib import Path

import click

from streamapp.cli.option_groups import ClusterAccess
from streamapp_operator.cli.cluster_access.cluster_command import cluster_options, run_with_cluster
from streamapp_operator.cli.support_bundle.bundle_archive import archive_bytes, write_new_file
from streamapp_operator.cli.support_bundle.bundle_index import INDEX, RedactedBundle, redacted_bundle
from streamapp_operator.cli.support_bundle.bundle_reading import read_bundle
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient


@click.command(short_help="Write all that is known of an app on a cluster into one archive.")
@click.argument("app")
@cluster_options
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="The archive; left out: NAMESPACE-APP-bundle.tar.gz here.",
)
@click.option(
    "--log-lines",
    type=click.IntRange(1, 100_000),
    default=2_000,
    show_default=True,
    help="So many lines from the end of each log.",
)
def bundle(
    app: str,
    namespace: str,
    access: ClusterAccess,
    output: Path | None,
    log_lines: int,
) -> None:
    """Collect all diagnostic data of APP in one archive, to send to those who help.

    Its resource and plan, what operator and driver wrote, pods, claims, history, events, logs, metrics and
    versions. What you may not read is left out, and index.json lists it. Secrets are never read; values of
    environment variables, passwords and tokens are replaced by ***, by the rules in index.json. Look
    through the archive before you pass it on: no rule knows every secret.

    \b
    Examples:
      streamapp bundle page-views --namespace shop
      streamapp bundle page-views --output page-views.tar.gz --log-lines 500
    """
    path = output or Path(f"{namespace}-{app}-bundle.tar.gz")
    if path.exists():
        raise click.ClickException(_exists(path))

    async def read(cluster: ApiClusterClient) -> RedactedBundle:
        contents = await read_bundle(cluster, namespace, app, log_lines)
        return redacted_bundle(
            contents, app=app, namespace=namespace, made_at=f"{cluster.now():%Y-%m-%dT%H:%M:%SZ}"
        )

    redacted = run_with_cluster(access, read)
    content = archive_bytes(f"{app}-bundle", redacted.texts)
    try:
        write_new_file(path, content)
    except FileExistsError:
        raise click.ClickException(_exists(path)) from None
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
    click.echo(f"wrote {path}: {len(redacted.texts)} files, {len(content):,} bytes")
    click.echo(f"{redacted.hidden} values are hidden; {INDEX} in it has the rules")
    for part in redacted.unread:
        click.echo(f"not in it: {part.name}: {part.cause}")


def _exists(path: Path) -> str:
    return f"{path} exists; name another file with --output"
