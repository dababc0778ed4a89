"""`streamapp operator --check-rights`: whether the operator's account has every right that it needs."""

import click

from streamapp_operator.controller.client.api_requests import ApiTransport
from streamapp_operator.controller.client.client_configuration import load_configuration
from streamapp_operator.controller.process.operator_options import OperatorOptions, lease_namespace
from streamapp_operator.controller.rbac.access_reviews import denied_reviews, required_reviews


async def check_rights(options: OperatorOptions) -> int:
    """Review each right and print those that are missing; exit code 0 when none is missing."""
    reviews = list(required_reviews(options.namespaces, lease_namespace(options), options.apps_page))
    transport = ApiTransport(
        await load_configuration(options.kubeconfig, options.context), lambda _, __: None
    )
    try:
        missing = [review async for review in denied_reviews(transport, iter(reviews))]
    finally:
        await transport.close()
    for review in missing:
        click.echo(f"not allowed: {review}")
    click.echo(f"{len(reviews) - len(missing)} of {len(reviews)} rights are granted")
    return 1 if missing else 0
