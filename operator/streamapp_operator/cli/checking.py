"""`streamapp operator --check-rights`: whether an operator started like this may do what it has to."""

import click

from streamapp_operator.cluster.access import access
from streamapp_operator.cluster.calls import Calls
from streamapp_operator.cluster.granted import questions, refused
from streamapp_operator.leading.where import lease_namespace
from streamapp_operator.options import Options


async def check_rights(options: Options) -> int:
    """Ask for each right, tell those that are missing; 0 when none is."""
    asked = list(questions(options.namespaces, lease_namespace(options)))
    calls = Calls(await access(options.kubeconfig, options.context), lambda _, __: None)
    try:
        missing = [question async for question in refused(calls, iter(asked))]
    finally:
        await calls.close()
    for question in missing:
        click.echo(f"not allowed: {question}")
    click.echo(f"{len(asked) - len(missing)} of {len(asked)} rights are granted")
    return 1 if missing else 0
