"""`streamapp tasks`: which task owns which partition, today and after a growth."""

import json
import sys
from pathlib import Path

import click

from streamapp.cli.facts.count_options import CountOptions, count_options
from streamapp.cli.output_option import JSON, output_option

PREVIOUS = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(short_help="Show which task owns which partition, and what a growth would change.")
@click.argument("app")
@count_options
@click.option("--previous", type=PREVIOUS, help="An earlier answer in JSON: the tasks that hold the state.")
@output_option("text", JSON)
@click.option("--app", "name", metavar="NAME", help="Which app, where the source holds several.")
def tasks(
    app: str,
    count_options: CountOptions,
    previous: Path | None,
    output: str,
    name: str | None,
) -> None:
    """Show the tasks of APP: which partitions each owns, and its changelog partition.

    With --previous the tasks are those that hold the state already: new partitions of a stream that grew go
    to the task that has their keys. With --live those are known from the app's own layout, and counts are
    those of its systems. Exits with 0, with 1 when plan or growth is refused, with 2 when the command was
    used wrongly, with 3 when the systems do not answer.

    \b
    Examples:
      streamapp tasks app.yaml --catalog topics.yaml -o json > before.json
      streamapp tasks app.yaml --catalog topics.yaml --set views=16 --previous before.json
      streamapp tasks app.yaml --live --set views=16
    """
    from streamapp.cli.app_sources import one_app
    from streamapp.cli.documents.tasks_document import tasks_document
    from streamapp.cli.documents.tasks_text import tasks_text
    from streamapp.cli.facts.offline_proposal import (
        offline_proposal,
        read_previous_answer,
        show_rejected_plan,
    )
    from streamapp.tasks.refusal import Refusal

    parsed_app = one_app(app, name)
    proposal, previous_answer = offline_proposal(parsed_app, count_options, read_previous_answer(previous))
    if proposal.tasks is None:
        show_rejected_plan(parsed_app.metadata.name, proposal)
        sys.exit(1)
    if output == "json":
        click.echo(json.dumps(tasks_document(parsed_app.metadata.name, proposal.tasks), indent=2))
    else:
        click.echo(tasks_text(parsed_app.metadata.name, proposal.tasks, previous_answer.layout), nl=False)
    if isinstance(proposal.tasks, Refusal):
        sys.exit(1)
