"""Durations as options of verbs."""

import click

from streamapp.spec.value_types.durations import milliseconds


def seconds_of(text: str, option: str) -> float:
    """A duration such as 30s, in seconds."""
    try:
        return milliseconds(text) / 1000
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from None
