"""A time as the verbs of `streamapp log` take it."""

from datetime import datetime

import click

from streamapp.spec.value_types.durations import milliseconds


def time_in_ms(text: str, now: float, option: str, others: str = "") -> int:
    """Milliseconds since the epoch: of an ISO time, which may name no zone, or of so long ago."""
    try:
        if text.startswith("-"):
            return int(now * 1000) - milliseconds(text.removeprefix("-"))
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError):
        message = f'found "{text}"; write {others}a time like 2026-11-22T09:30Z, or -10m'
        raise click.BadParameter(message, param_hint=option) from None
