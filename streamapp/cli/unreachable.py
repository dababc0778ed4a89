"""The error of a verb whose cluster or system does not answer."""

import click

from streamapp.protocol.termination import ExitCode


class UnreachableError(click.ClickException):
    """A cluster or system does not answer, is busy, or denies access; a retry may help."""

    exit_code = ExitCode.RETRY
