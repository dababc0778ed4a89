"""Python that a resource names as `package.module:name`."""

from importlib import import_module
from typing import Any


def named_python(python: str) -> Any:
    """The class or function of a name; AttributeError where its module has none, or what that raises."""
    module, _, name = python.partition(":")
    return getattr(import_module(module), name)
