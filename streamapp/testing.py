"""The test kit of whatever runtime is installed: `from streamapp.testing import TestApp`.

What is here is named by entry points, as the command's verbs are: this package knows no runtime.
"""

from importlib.metadata import entry_points
from typing import Any

_GROUP = "streamapp.testing"


def __getattr__(name: str) -> Any:
    """A part of the kit, loaded when it is first asked for."""
    if name.startswith("__"):
        raise AttributeError(name)
    parts = entry_points(group=_GROUP, name=name)
    if not parts:
        known = ", ".join(sorted(entry_points(group=_GROUP).names))
        hint = f"it has {known}" if known else "no runtime is installed; install streamapp[runtime]"
        raise AttributeError(f"streamapp.testing has no {name}: {hint}")
    part = globals()[name] = next(iter(parts)).load()
    return part


def __dir__() -> list[str]:
    """The names of the kit's parts."""
    return sorted(entry_points(group=_GROUP).names)
