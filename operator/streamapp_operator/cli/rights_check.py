"""`streamapp operator --check-rights`: whether an operator started like this may do what it has to."""

import click

from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.process.operator_options import OperatorOptions, lease_namespace
from streamapp_operator.controller.rbac.access_reviews import denied_reviews, required_reviews


async def check_rights(options: OperatorOptions) -> int:
    """Ask for each right, tell those that are missing; 0 when none is."""
    asked = list(required_reviews(options.namespaces, lease_namespace(options)))
    calls = ApiTransport(await load_configuration(options.kubeconfig, options.context), lambda _, __: None)
    try:
        missing = [question async for question in denied_reviews(calls, iter(asked))]
    finally:
        await calls.close()
    for question in missing:
        click.echo(f"not allowed: {question}")
    click.echo(f"{len(asked) - len(missing)} of {len(asked)} rights are granted")
    return 1 if missing else 0
