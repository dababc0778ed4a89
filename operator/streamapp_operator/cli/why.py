"""`streamapp why`: diagnoses an app on a cluster, and names the next step."""

import json
import sys
from collections.abc import Iterator, Sequence
from textwrap import indent

import click

from streamapp.cli.option_groups import ClusterAccess
from streamapp.cli.output_option import JSON, output_option
from streamapp_operator.cli.cluster_access.cluster_command import (
    cluster_configuration,
    cluster_options,
    run_with_cluster,
)
from streamapp_operator.cli.diagnosis.situation_facts import SituationFacts, read_situation
from streamapp_operator.cli.diagnosis.situations import Finding, findings_of
from streamapp_operator.controller.client.api_cluster_client import ApiClusterClient


@click.command(short_help="Diagnose an app on a cluster, and name the next step.")
@click.argument("app")
@cluster_options
@output_option("text", JSON)
def why(app: str, namespace: str, access: ClusterAccess, output: str) -> None:
    """Say why APP is not ready, not planned, slow, behind or waiting.

    The reason in the status comes first, each with the next command. What follows from it is left out. It
    reads the conditions, the pods, the driver's report, the events of the driver, and the driver's page where
    spec.page.enabled is true. Exits with 0 when nothing is the matter, with 1 otherwise.

    \b
    Examples:
      streamapp why page-views --namespace shop
      streamapp why page-views -o json
    """

    async def read(cluster: ApiClusterClient) -> SituationFacts:
        # Forwarding of ports has connections of its own.
        configuration = await cluster_configuration(access)
        return await read_situation(cluster, configuration, namespace, app)

    facts = run_with_cluster(access, read)
    findings = findings_of(facts)
    if output == JSON:
        fields = [
            {
                "situation": finding.situation,
                "sentence": finding.sentence,
                "detail": finding.detail,
                "nextCommand": finding.next_command,
            }
            for finding in findings
        ]
        click.echo(json.dumps({"findings": fields, "notRead": list(facts.unread)}, indent=2))
    else:
        for line in _lines(findings):
            click.echo(line)
        for part in facts.unread:
            click.echo(f"not read: {part}", err=True)
    sys.exit(1 if findings else 0)


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    if not findings:
        yield "nothing is the matter"
    for number, finding in enumerate(findings, 1):
        yield f"{number}. {finding.sentence}"
        yield indent(finding.detail, "   ")
        yield f"   Next: {finding.next_command}"
