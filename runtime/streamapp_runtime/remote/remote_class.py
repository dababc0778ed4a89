"""The contract of a class that stands for a remote table.

    class Prices:
        columns = pa.schema([("price", pa.float64())])   # what it can give, where that is fixed
        unavailable = (ServiceError,)                    # what else than OSError says that it is unavailable

        def check(self, config): ...      # raise ValueError where the options or columns are wrong
        def open(self, config): ...       # connect
        def get_many(self, keys): ...     # the rows of keys
        def close(self): ...

Only `get_many` has to be there. It is given a pyarrow.BinaryArray of distinct keys, none null, and gives
either a list with a mapping or None for each key, or a pyarrow.RecordBatch with a row for each key that it
found and the key in a column `__key`. After a call that failed the object is closed and another one is made.
"""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from streamapp_runtime.operators.user_code.user_code_loader import (
    UserCodeError,
    load_user_code,
    user_code_guard,
)
from streamapp_runtime.remote.remote_settings import RemoteSettings

_SIGNATURES = {"get_many": "keys", "open": "config", "check": "config", "close": ""}


@dataclass(frozen=True, slots=True)
class RemoteConfig:
    """The configuration that `open` and `check` of a class receive: the table that the class stands for."""

    table: str
    columns: pa.Schema
    column_list: str  # the same as the resource writes it
    options: dict[str, Any]
    timeout_seconds: float  # a call that takes longer is given up


@dataclass(frozen=True, slots=True)
class RemoteClass:
    """A class that keeps to the contract."""

    python: str
    cls: type[Any]
    unavailable: tuple[type[BaseException], ...]


def load_remote_class(python: str) -> RemoteClass:
    """The class that `package.module:Class` names; UserCodeError where it is none, or not of this kind."""
    remote_class: Any = load_user_code(python)
    if not isinstance(remote_class, type):
        raise UserCodeError(python, "is no class", "name a class with get_many(keys)")
    for problem in _contract_problems(remote_class):
        raise UserCodeError(python, problem, "see the guide's page on remote tables")
    return RemoteClass(python, remote_class, (OSError, *getattr(remote_class, "unavailable", ())))


def check_remote_class(settings: RemoteSettings) -> None:
    """See that the class can stand for the table; UserCodeError, or WrongColumnsError, where it cannot."""
    kind = load_remote_class(settings.python)
    fixed_columns = getattr(kind.cls, "columns", None)
    if fixed_columns is not None and (misfit := _misfit(fixed_columns, settings.schema)):
        raise WrongColumnsError(settings.python, misfit, "declare the columns that the class gives")
    with user_code_guard(settings.python, "cannot be made"):
        instance = kind.cls()
    if hasattr(instance, "check"):
        with user_code_guard(settings.python, "refuses", "see what it says of its options and columns"):
            instance.check(config_of(settings))


class WrongColumnsError(UserCodeError):
    """The class gives other columns than the table is said to have."""


def config_of(settings: RemoteSettings) -> RemoteConfig:
    """The argument of `open` and `check` for a remote table."""
    return RemoteConfig(
        settings.table, settings.schema, settings.columns, settings.class_options, settings.timeout
    )


def _contract_problems(remote_class: type[Any]) -> Iterator[str]:
    if not _accepts(remote_class, 0):
        yield "has a constructor that wants arguments; what it needs comes with open(config)"
    if not hasattr(remote_class, "get_many"):
        yield "has no get_many(keys)"
    for name, argument in _SIGNATURES.items():
        method = getattr(remote_class, name, None)
        if method is not None and not _accepts(method, 1 + bool(argument)):
            yield f"has another {name} than {name}({argument})"
    unavailable = getattr(remote_class, "unavailable", ())
    if not isinstance(unavailable, tuple) or not all(_is_exception(each) for each in unavailable):
        yield "has an unavailable that is no tuple of exceptions"
    if not isinstance(getattr(remote_class, "columns", pa.schema([])), pa.Schema):
        yield "has columns that are no pyarrow.Schema"


def _accepts(function: Any, count: int) -> bool:
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # made in C, and says nothing of itself
        return True
    return True


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def _misfit(fixed_columns: pa.Schema, declared: pa.Schema) -> str:
    """The first column that the class does not give as it is wanted; empty where it gives all."""
    for field in declared:
        if field.name not in fixed_columns.names:
            return f'gives no column "{field.name}"; its columns are {", ".join(fixed_columns.names)}'
        if fixed_columns.field(field.name).type != field.type:
            given_type = fixed_columns.field(field.name).type
            return f'gives column "{field.name}" as {given_type}, and it is {field.type}'
    return ""
