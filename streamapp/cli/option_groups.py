"""Options of verbs that belong together, and reach a verb as one value."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any, Final

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
CONTEXT_HELP: Final = "Which context of the kubeconfig; its current one when left out."
KUBECONFIG_HELP: Final = "Left out: KUBECONFIG, else ~/.kube/config."


def option_group(name: str, group: type, *options: Decorator) -> Decorator:
    """Add options to a verb. Those that are fields of `group` reach it as one value of this class."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def command_with_group(**values: Any) -> Any:
            grouped = {option: values.pop(option) for option in names}
            return command(**values, **{name: group(**grouped)})

        others = _parameters(command)
        decorated: Callable[..., Any] = command_with_group
        for option in reversed(options):
            decorated = option(decorated)
        names = (_parameters(decorated) - others) & {field.name for field in fields(group)}
        return decorated

    return decorate


def _parameters(command: Callable[..., Any]) -> set[str]:
    return {parameter.name for parameter in getattr(command, "__click_params__", ())}


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """The cluster to ask, in kubectl's terms."""

    namespace: str | None = None
    kubeconfig: str | None = None
    context: str | None = None


def cluster_options(
    *namespace_options: Decorator, kubeconfig: str = KUBECONFIG_HELP, context: str = CONTEXT_HELP
) -> Decorator:
    """The options that select a cluster, which verbs receive as `access`, with the texts of their help."""
    return option_group(
        "access",
        ClusterAccess,
        *namespace_options,
        click.option("--kubeconfig", type=click.Path(exists=True, dir_okay=False), help=kubeconfig),
        click.option("--context", help=context),
    )
