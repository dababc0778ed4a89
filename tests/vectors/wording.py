"""What a message has to name, as cases say it."""

import re
from collections.abc import Collection, Iterator
from typing import Any

_NAMES = re.compile(r"[\w.#/-]+")


def unnamed(wanted: Any, message: str, known: Collection[str] = ()) -> Iterator[str]:
    """The names that a message lacks; a sentence of a case stands for the numbers and known names in it."""
    if isinstance(wanted, str):
        words = _NAMES.findall(wanted)
        names = [word for word in words if word in known or word.isdecimal()] or [wanted]
    else:
        names = [str(name) for name in wanted]
    yield from (f"no message names {name}: {message}" for name in names if name not in message)
