"""What a class has to be like that stands for a remote table.

    class Prices:
        columns = pa.schema([("price", pa.float64())])   # what it can give, where that is fixed
        unavailable = (ServiceError,)                    # what else than OSError says that it is away

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
    """What a class is told of the table that it stands for."""

    table: str
    columns: pa.Schema
    column_list: str  # the same as the resource writes it
    options: dict[str, Any]
    timeout_seconds: float  # a call that takes longer is given up


@dataclass(frozen=True, slots=True)
class RemoteClass:
    """A class that keeps to the contract."""

    python: str
    made: type[Any]
    unavailable: tuple[type[BaseException], ...]


def load_remote_class(python: str) -> RemoteClass:
    """The class that `package.module:Class` names; UserCodeError where it is none, or not of this kind."""
    found: Any = load_user_code(python)
    if not isinstance(found, type):
        raise UserCodeError(python, "is no class", "name a class with get_many(keys)")
    for problem in _wrong(found):
        raise UserCodeError(python, problem, "see the guide's page on remote tables")
    return RemoteClass(python, found, (OSError, *getattr(found, "unavailable", ())))


def check_remote_class(settings: RemoteSettings) -> None:
    """See that the class can stand for the table; UserCodeError, or WrongColumnsError, where it cannot."""
    kind = load_remote_class(settings.python)
    fixed = getattr(kind.made, "columns", None)
    if fixed is not None and (told := _misfit(fixed, settings.schema)):
        raise WrongColumnsError(settings.python, told, "declare the columns that the class gives")
    with user_code_guard(settings.python, "cannot be made"):
        instance = kind.made()
    if hasattr(instance, "check"):
        with user_code_guard(settings.python, "refuses", "see what it says of its options and columns"):
            instance.check(config_of(settings))


class WrongColumnsError(UserCodeError):
    """The class gives other columns than the table is said to have."""


def config_of(settings: RemoteSettings) -> RemoteConfig:
    """What the class is told."""
    return RemoteConfig(
        settings.table, settings.schema, settings.columns, settings.given_options, settings.timeout
    )


def _wrong(found: type[Any]) -> Iterator[str]:
    if not _takes(found, 0):
        yield "has a constructor that wants arguments; what it needs comes with open(config)"
    if not hasattr(found, "get_many"):
        yield "has no get_many(keys)"
    for name, argument in _SIGNATURES.items():
        method = getattr(found, name, None)
        if method is not None and not _takes(method, 1 + bool(argument)):
            yield f"has another {name} than {name}({argument})"
    unavailable = getattr(found, "unavailable", ())
    if not isinstance(unavailable, tuple) or not all(_is_exception(each) for each in unavailable):
        yield "has an unavailable that is no tuple of exceptions"
    if not isinstance(getattr(found, "columns", pa.schema([])), pa.Schema):
        yield "has columns that are no pyarrow.Schema"


def _takes(function: Any, count: int) -> bool:
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError:
        return False
    except ValueError:  # made in C, and says nothing of itself
        return True
    return True


def _is_exception(found: object) -> bool:
    return isinstance(found, type) and issubclass(found, BaseException)


def _misfit(fixed: pa.Schema, wanted: pa.Schema) -> str:
    """The first column that the class does not give as it is wanted; empty where it gives all."""
    for field in wanted:
        if field.name not in fixed.names:
            return f'gives no column "{field.name}"; its columns are {", ".join(fixed.names)}'
        if fixed.field(field.name).type != field.type:
            return f'gives column "{field.name}" as {fixed.field(field.name).type}, and it is {field.type}'
    return ""
