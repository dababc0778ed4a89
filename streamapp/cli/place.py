"""`streamapp place`: which processor runs which task, and what a change of processors moves."""

import json
import sys
from pathlib import Path

import click

from streamapp.cli.facts.count_options import CountOptions, count_options
from streamapp.cli.output_option import JSON, output_option
from streamapp.cli.tasks import PREVIOUS


@click.command(short_help="Show which processor runs which task, and what would move.")
@click.argument("app")
@count_options
@click.option(
    "--processors",
    metavar="FILE|N",
    help="YAML or JSON, processor -> location; or how many. The app's own number when left out.",
)
@click.option("--previous", type=PREVIOUS, help="An earlier answer in JSON: where tasks and their state are.")
@output_option("text", JSON)
@click.option("--app", "name", metavar="NAME", help="Which app, where the source holds several.")
def place(
    app: str,
    count_options: CountOptions,
    processors: str | None,
    previous: Path | None,
    output: str,
    name: str | None,
) -> None:
    """Show where the tasks of APP run: balanced, and as many as possible where their state is.

    With --previous it shows what moves and why, compared with the fewest moves of any balanced assignment.
    Exits with 0, with 1 when plan, growth or placement is refused, with 2 when the command was used wrongly,
    with 3 when the systems do not answer.

    \b
    Examples:
      streamapp place app.yaml --catalog topics.yaml --processors nodes.yaml -o json > before.json
      streamapp place app.yaml --catalog topics.yaml --processors 5 --previous before.json
    """
    from streamapp.cli.app_sources import one_app
    from streamapp.cli.documents.placement_document import placement_document
    from streamapp.cli.documents.placement_text import placement_text
    from streamapp.cli.documents.tasks_text import tasks_text
    from streamapp.cli.facts.offline_proposal import (
        offline_proposal,
        read_previous_answer,
        show_rejected_plan,
    )
    from streamapp.placement.placer import place_tasks
    from streamapp.tasks.refusal import Refusal

    parsed_app = one_app(app, name)
    title = parsed_app.metadata.name
    locations = _processor_locations(processors, parsed_app.spec.processors)
    proposal, previous_answer = offline_proposal(parsed_app, count_options, read_previous_answer(previous))
    if proposal.tasks is None:
        show_rejected_plan(title, proposal)
        sys.exit(1)
    if proposal.assignment is None:
        click.echo(tasks_text(title, proposal.tasks, previous_answer.layout), nl=False)
        sys.exit(1)
    assignment = proposal.assignment
    placement = place_tasks(
        assignment.tasks,
        previous_answer.task_locality,
        locations,
        previous_answer.processor_of,
        stores=previous_answer.store_history.positions(now=0),
    )
    if output == "json":
        click.echo(
            json.dumps(placement_document(title, assignment, placement, locations, previous_answer), indent=2)
        )
    else:
        click.echo(placement_text(title, placement, locations, previous_answer), nl=False)
    if isinstance(placement, Refusal):
        sys.exit(1)


def _processor_locations(option: str | None, default_count: int) -> dict[str, str | None]:
    from streamapp.author.names import processor_names
    from streamapp.cli.documents.catalog_file import CatalogError
    from streamapp.cli.documents.processors_file import MOST_PROCESSORS, read_processors

    if option is None:
        return dict.fromkeys(processor_names(default_count))
    if option.isascii() and option.isdecimal():
        if int(option) > MOST_PROCESSORS:
            raise click.BadParameter(
                f"found {option}; at most {MOST_PROCESSORS} are allowed", param_hint="--processors"
            )
        return dict.fromkeys(processor_names(int(option)))
    try:
        return read_processors(Path(option))
    except CatalogError as error:
        raise click.UsageError("\n".join(f"{option}: {problem}" for problem in error.problems)) from None
    except OSError as error:
        raise click.UsageError(
            f'"{option}" is neither a number of processors nor a file that can be read: {error.strerror}'
        ) from None
    except UnicodeDecodeError as error:
        raise click.UsageError(f"cannot read {option}: {error}") from None
