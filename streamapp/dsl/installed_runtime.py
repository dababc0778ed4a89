"""What runs an app from a program: a part of the runtime, named by an entry point."""

from importlib.metadata import entry_points
from typing import Any, Final

from streamapp.spec.problem import ReadableError

_GROUP: Final = "streamapp.notebook"


class RuntimeMissingError(ReadableError, ImportError):
    """No runtime is installed, or a module that it needs is not."""


def run_with_runtime(*arguments: Any, **options: Any) -> Any:
    """Call what runs apps; RuntimeMissingError says what to install."""
    install = 'pip install "streamapp[runtime]"'
    for entry in entry_points(group=_GROUP, name="run"):
        try:
            run = entry.load()
        except ModuleNotFoundError as error:
            raise RuntimeMissingError(f"running an app needs the module {error.name}: {install}") from None
        return run(*arguments, **options)
    raise RuntimeMissingError(f"running an app needs the runtime: {install}")
