"""How a verb ends where what it asked does not answer."""

import click

from streamapp.protocol.termination import ExitCode


class UnreachableError(click.ClickException):
    """What was asked does not answer, is busy, or lets nobody in; trying again may help."""

    exit_code = ExitCode.RETRY
