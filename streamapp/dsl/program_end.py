"""The message at the end of a program that was started by itself and has built an app and nothing more."""

import atexit
import sys
from shlex import quote
from types import ModuleType
from typing import Protocol


class BuiltApp(Protocol):
    """An app, and whether the program asked for its resource."""

    name: str
    is_used: bool


_built_apps: list[BuiltApp] = []


def note_app(app: BuiltApp) -> None:
    """Remember an app for the end of the program, where a user's file is the program."""
    if not _is_users_file(sys.modules.get("__main__")):
        return
    if not _built_apps:
        atexit.register(_say_what_to_type)
    _built_apps.append(app)


def _is_users_file(main: ModuleType | None) -> bool:
    """True if Python was started with a file; commands have no suffix, and `python -m` leaves a spec."""
    path = getattr(main, "__file__", None)
    return path is not None and path.endswith(".py") and getattr(main, "__spec__", None) is None


def _say_what_to_type() -> None:
    if hasattr(sys, "last_value") or any(app.is_used for app in _built_apps):
        return  # it failed and said why, or did something with what it built
    top_level = {id(value) for value in vars(sys.modules["__main__"]).values()}
    names = list(dict.fromkeys(str(app.name) for app in _built_apps if id(app) in top_level))
    if not names:
        return
    path = quote(sys.argv[0])
    apps = f"the app {names[0]}" if len(names) == 1 else f"the apps {', '.join(names)}"
    sys.stderr.write(
        f"{path} defines {apps} and runs nothing. Type `streamapp plan {path}` to see what it would do, "
        f"or `streamapp run {path}` to run it.\n"
    )
