"""`streamapp plan`: whether it would run, with which partition counts, and if not, why not."""

import sys
from pathlib import Path

import click

from streamapp.cli.counts import count_options

FORMS = ["text", "json", "dot", "svg", "html"]


@click.command(short_help="Plan an app: infer partition counts, prove its joins.")
@click.argument("app")
@count_options
@click.option("-o", "--output", type=click.Choice(FORMS), default="text", show_default=True)
@click.option("--app", "name", metavar="NAME", help="Which app, where the source holds several.")
def plan(app: str, catalog: Path | None, settings: tuple[str, ...], output: str, name: str | None) -> None:
    """Plan APP: infer the count of every intermediate stream and prove that joined streams agree.

    APP is a YAML or JSON file, a Python program, or - for standard input. Exits with 0 when the plan is
    accepted, with 1 when it is rejected, with 2 when the command was used wrongly.

    \b
    Examples:
      streamapp plan app.yaml --catalog topics.yaml
      streamapp plan app.yaml --set views=8 --set users=6
      streamapp plan app.py --catalog topics.yaml -o html > plan.html
    """
    from streamapp.cli.counts import counts
    from streamapp.cli.sources import one_app
    from streamapp.graph.build import build
    from streamapp.plan.plan import Mode, Outcome
    from streamapp.plan.planner import plan as make_plan
    from streamapp.plan.render import FORMS as RENDERERS

    found = one_app(app, name)
    graph = build(found, counts(found, catalog, settings))
    planned = make_plan(graph, config=found.spec.config, mode=Mode(found.spec.mode))
    colour = output == "text" and sys.stdout.isatty()
    click.echo(RENDERERS[output](found.metadata.name, graph, planned, colour), nl=False)
    if planned.outcome is Outcome.REJECTED:
        sys.exit(1)
