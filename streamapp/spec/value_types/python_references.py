"""The name by which a worker finds a function or class of the user's: `package.module:name`."""

import sys
from types import FunctionType
from typing import Any

_PROGRAMS = ("__main__", "<run_path>")
"""The modules of a program that was started, in place of the name by which others import its file."""

_INSTEAD = "define a function or class at the top level of a module"


class PythonReferenceError(ValueError):
    """A function that has no name by which a worker could find it."""


def python_reference(code: Any) -> Any:
    """The name of a function or class; what is neither stays as it is."""
    if not callable(code):
        return code
    name = getattr(code, "__qualname__", None)
    module = getattr(code, "__module__", None)
    if not isinstance(name, str) or not isinstance(module, str) or hasattr(code, "__self__"):
        raise PythonReferenceError(
            f"found {str(code)[:60]}, which executors cannot find by a name; {_INSTEAD}, "
            'or write "package.module:name"'
        )
    if "<lambda>" in name:
        raise PythonReferenceError(f"found a lambda, which has no name for executors to find; {_INSTEAD}")
    if "." in name:
        inside, _, own = name.replace(".<locals>", "").rpartition(".")
        raise PythonReferenceError(
            f"found {own}, which is defined inside {inside}, where executors cannot find it; {_INSTEAD}"
        )
    if module in _PROGRAMS and not _is_of_a_prompt(code, name):
        module = _file_module(code)
    return f"{module}:{name}"


def _is_of_a_prompt(code: Any, name: str) -> bool:
    """True if a notebook or a prompt defines this: its own process finds it by its name."""
    main = sys.modules.get(code.__module__)
    return not hasattr(main, "__file__") and getattr(main, name, None) is code


def _file_module(code: Any) -> str:
    """The name by which the program's file is imported; executors have its folder among their paths."""
    functions = [code] if isinstance(code, FunctionType) else vars(code).values()
    files = [function.__code__.co_filename for function in functions if isinstance(function, FunctionType)]
    module = files[0].replace("\\", "/").rpartition("/")[2].removesuffix(".py") if files else ""
    if not module.isidentifier():
        raise PythonReferenceError(
            f"the module of {code.__name__} has no name that an executor could import; put it into a "
            "separate file, and import it from there"
        )
    return module
