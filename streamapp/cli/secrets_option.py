"""The option `--secrets` of verbs that reach an app's systems from outside of a cluster."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click


def secrets_option(when: str = "") -> Callable[..., Any]:
    """`--secrets`, which verbs receive as `secrets`."""
    entries = "the entries of the Secret that configSecret names: a folder with a file for each, or a file of"
    help_text = f"{when}{entries} key=value lines."
    return click.option(
        "--secrets",
        type=click.Path(exists=True, path_type=Path),
        help=help_text[0].upper() + help_text[1:],
    )
