"""Durations as options of verbs."""

import click

from streamapp.spec.value_types.durations import milliseconds


def as_seconds(_: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    """The callback of an option whose value is a duration."""
    return None if text is None else seconds_of(text, parameter.opts[0])


def seconds_of(text: str, option: str) -> float:
    """A duration such as 30s, in seconds."""
    try:
        return milliseconds(text) / 1000
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from None
