"""Calls with an argument that a method does not have are refused with the one that was probably meant."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import ParamSpec, TypeVar

from streamapp.spec.problem import ReadableError, nearest, short

_P = ParamSpec("_P")
_R = TypeVar("_R")


class UnknownArgumentError(ReadableError, TypeError):
    """An argument that a method does not have."""


def named_arguments(method: Callable[_P, _R]) -> Callable[_P, _R]:
    """The method, with a helpful error where an argument is misspelt, or lacks the name that it needs."""
    parameters = list(signature(method).parameters.values())[1:]
    names = [parameter.name for parameter in parameters if parameter.kind is not Parameter.VAR_POSITIONAL]
    unlimited = any(parameter.kind is Parameter.VAR_POSITIONAL for parameter in parameters)
    positional = [p.name for p in parameters if p.kind is Parameter.POSITIONAL_OR_KEYWORD]
    keywords = [name for name in names if name not in positional]
    called = method.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @wraps(method)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for name in kwargs:
            if name not in names:
                raise UnknownArgumentError(
                    f'{called}: unknown argument "{short(name)}"{nearest(name, names)}'
                )
        if len(args) - 1 > len(positional) and not unlimited:
            without_name = short(repr(args[len(positional) + 1]))
            means = " or ".join(f"{name}=" for name in keywords[:3])
            raise UnknownArgumentError(
                f"{called}: {without_name} has no name; write what it is, such as {means}"
            )
        return method(*args, **kwargs)

    return call
