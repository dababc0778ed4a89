"""`streamapp status`: how an app on a cluster is, and why."""

import json
import sys

import click

from streamapp.cli.output_option import JSON, output_option
from streamapp_operator.cli.cluster_access.app_lookup import read_app
from streamapp_operator.cli.cluster_access.cluster_command import cluster_options, run_with_cluster
from streamapp_operator.cli.status_text import status_text


@click.command(short_help="Show an app's phase, and the conditions behind it.")
@click.argument("app")
@cluster_options
@output_option("text", JSON)
def status(app: str, namespace: str, kubeconfig: str | None, context: str | None, output: str) -> None:
    """Show APP: its phase, its driver, its tasks, and every condition that needs attention.

    Exits with 0 when the app is ready, with 1 when it is not or is not there.

    \b
    Examples:
      streamapp status page-views --namespace shop
      streamapp status page-views -o json
    """
    manifest = run_with_cluster(kubeconfig, context, lambda cluster: read_app(cluster, namespace, app))
    app_status = manifest.get("status") or {}
    click.echo(
        json.dumps(app_status, indent=2) if output == "json" else status_text(manifest), nl=output == "json"
    )
    ready = next(
        (condition for condition in app_status.get("conditions", ()) if condition["type"] == "Ready"), None
    )
    if ready is None or ready["status"] != "True":
        sys.exit(1)
