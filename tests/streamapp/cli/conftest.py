"""The command as a user calls it: arguments in, output and exit code out."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from streamapp.cli.main import root

Run = Callable[..., Result]
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.fixture
def run() -> Run:
    """Call the command; an exception that is no exit fails the test."""

    def call(*args: str | Path, given: str | None = None) -> Result:
        result = CliRunner().invoke(root, [str(arg) for arg in args], input=given, prog_name="streamapp")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return call


@pytest.fixture
def example() -> Callable[[str], Path]:
    """The folder of an example."""
    return EXAMPLES.joinpath
