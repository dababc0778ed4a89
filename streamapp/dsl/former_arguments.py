"""Calls with the former name of a renamed field mean the field, with a warning."""

import re
import warnings
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from pydantic import BaseModel

from streamapp.spec.former_names import former_fields
from streamapp.spec.resource.field_marks import Former, renamed_message

_P = ParamSpec("_P")
_R = TypeVar("_R")


def former_arguments(part: type[BaseModel]) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """For a method that declares this part: former names of its fields are understood as arguments."""
    renamed: dict[str, tuple[str, Former]] = {
        _attribute(mark.name): (name, mark) for name, mark in former_fields(part) if mark.name
    }

    def understood(method: Callable[_P, _R]) -> Callable[_P, _R]:
        @wraps(method)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            for former in renamed.keys() & kwargs.keys():
                current, mark = renamed[former]
                if current not in kwargs:
                    value = kwargs.pop(former)
                    kwargs[current] = mark.current_value(value)
                    message = renamed_message(former, mark.now_written(current, value))
                    warnings.warn(message, FutureWarning, stacklevel=2)
            return method(*args, **kwargs)

        return call

    return understood


def _attribute(name: str) -> str:
    """A name of the resource as Python writes it."""
    return re.sub("([A-Z])", r"_\1", name).lower()
