"""`streamapp plan`: whether an app would run, with which partition counts, and if not, why not."""

import json
import sys
from typing import TYPE_CHECKING

import click

from streamapp.cli.facts.count_options import CountOptions, count_options
from streamapp.cli.option_groups import ClusterAccess, cluster_options
from streamapp.cli.output_option import JSON, output_option, problems_document

if TYPE_CHECKING:  # a verb prints its help without the model
    from streamapp.cli.facts.live_lookup import LiveFacts
    from streamapp.plan.partition_plan import PlanOutcome
    from streamapp.spec.parser import ParseResult
    from streamapp.spec.resource.app import StreamApp

FORMS = ["text", "json", "dot", "svg", "html"]


@click.command(short_help="Plan an app: infer partition counts, prove its joins.")
@click.argument("app")
@count_options
@click.option("--cluster", is_flag=True, help="Ask the cluster: its partition counts, its layout.")
@cluster_options(
    click.option(
        "-n", "--namespace", help="With --cluster: the app's namespace, in place of the one it names."
    ),
    kubeconfig="With --cluster.",
    context="With --cluster: which context of the kubeconfig.",
)
@output_option(*FORMS)
@click.option("--app", "name", metavar="NAME", help="Which app, where the source holds several.")
def plan(
    app: str,
    count_options: CountOptions,
    cluster: bool,
    access: ClusterAccess,
    output: str,
    name: str | None,
) -> None:
    """Plan APP: infer the count of every intermediate stream and prove that joined streams agree.

    APP is a YAML or JSON file, a Python program, or - for standard input. Exits with 0 when the plan is
    accepted, with 1 when it is rejected, with 2 when the command was used wrongly, with 3 when the source of
    counts does not answer.

    With --live the counts are those that the app's systems have now, and an app that has run is planned with
    the layout stored with its state, as its next start would plan it. Nothing is written.

    With --cluster it is the check before an apply: counts come from the driver that runs, else from the
    systems themselves, an app with state is planned as the operator would plan it, and a change of a field
    that is tied to state is refused.

    \b
    Examples:
      streamapp plan app.yaml --catalog topics.yaml
      streamapp plan app.yaml --set views=8 --set users=6
      streamapp plan app.yaml --live --secrets ./kafka-client
      streamapp plan app.py --catalog topics.yaml -o html > plan.html
      streamapp plan app.yaml --cluster --namespace shop
    """
    from streamapp.cli.app_sources import read_source, select_app
    from streamapp.cli.facts.count_options import look_up_systems
    from streamapp.cli.facts.live_lookup import look_up
    from streamapp.plan.partition_plan import PlanOutcome

    parsed = read_source(app)
    parsed_app = select_app(parsed.apps, app, name)
    if cluster and count_options.live:
        raise click.UsageError("--cluster asks the systems too, from where the operator is; leave --live out")
    live_facts = look_up(parsed_app, access) if cluster else look_up_systems(parsed_app, count_options)
    if _print_plan(app, parsed, parsed_app, count_options, live_facts, output) is PlanOutcome.REJECTED:
        sys.exit(1)


def _print_plan(
    source: str,
    parsed: "ParseResult",
    parsed_app: "StreamApp",
    count_options: CountOptions,
    live_facts: "LiveFacts",
    output: str,
) -> "PlanOutcome":
    from streamapp.author.problems import task_problems
    from streamapp.author.proposal import rejected_for
    from streamapp.cli.app_sources import (
        located_plan,
        located_start_problems,
        print_problems,
        print_warnings,
    )
    from streamapp.cli.facts.code_lookup import code_warnings
    from streamapp.cli.facts.count_options import known_partitions
    from streamapp.cli.facts.offline_proposal import displayed_plan
    from streamapp.plan.render.forms import FORMS as RENDERERS

    proposal = displayed_plan(parsed_app, live_facts, known_partitions(parsed_app, count_options, live_facts))
    problems = live_facts.problems + task_problems(parsed_app, proposal)
    problems += located_start_problems(parsed, parsed_app)
    planned = located_plan(parsed, parsed_app, rejected_for(parsed_app, proposal.plan, problems))
    colour = output == "text" and sys.stdout.isatty()
    rendered = RENDERERS[output](parsed_app.metadata.name, proposal.graph, planned, colour)
    print_warnings(source, parsed.located(parsed_app, code_warnings(parsed_app, source)))
    if output == JSON:
        refusals = problems_document(problems) if problems else {}
        rendered = json.dumps(json.loads(rendered) | refusals, indent=2) + "\n"
    click.echo(rendered, nl=False)
    if problems and output != FORMS[0]:
        print_problems(source, problems)
    return planned.outcome
