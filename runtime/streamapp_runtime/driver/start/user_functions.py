"""The app's own ways to form tasks and to expand streams, loaded from its code."""

from dataclasses import dataclass
from typing import Any

from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.resource.config_keys import ALGORITHM
from streamapp.tasks.expansion.expansion_algorithm import ExpansionAlgorithm, modulo
from streamapp.tasks.groupers.grouper import BUILT_IN_GROUPERS, UserGrouper
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.operators.user_code.user_code_loader import (
    UserCodeError,
    load_user_code,
    user_code_guard,
)


@dataclass(frozen=True, slots=True)
class UserFunctions:
    """What an app brings; what it returns is checked wherever it is called."""

    grouper: UserGrouper | None = None
    algorithm: ExpansionAlgorithm = modulo


def load_user_functions(app: StreamApp) -> UserFunctions:
    """The app's own functions; RefusedError with the field's path where one cannot be loaded."""
    grouper, algorithm = app.spec.grouper, app.spec.config.get(ALGORITHM)
    return UserFunctions(
        None if grouper in BUILT_IN_GROUPERS else _load("spec.grouper", grouper),
        modulo if algorithm is None else _load(f"spec.config.{ALGORITHM}", algorithm),
    )


def _load(path: str, python: str) -> Any:
    """A function as it is; a class is made without arguments, and its object is called."""
    try:
        loaded = load_user_code(python)
        with user_code_guard(python, "cannot be made", "give it an __init__ without arguments"):
            return loaded() if isinstance(loaded, type) else loaded
    except UserCodeError as error:
        raise AppRefusedError(
            [Problem(0, 0, path, f"{error.message}; {error.hint}", error.reason)]
        ) from error
