"""Problems of an input, said so that a person can act on them."""

from dataclasses import dataclass
from difflib import get_close_matches

from streamapp.spec.reasons import Reason

LONGEST = 256
"""No name is longer; comparing longer texts for likeness would take time and help nobody."""
MOST_SHOWN = 12


class ReadableError(Exception):
    """An error whose message says all that a user needs: Jupyter shows it without our frames."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong: where it stands, what was found, what would be right."""

    document: int  # of several in one file, from 1; 0 where there is but one
    line: int  # 0 where the form has no lines
    path: str
    message: str
    reason: Reason = Reason.INVALID_SPEC

    def __str__(self) -> str:
        place = [f"document {self.document}"] * bool(self.document) + [f"line {self.line}"] * bool(self.line)
        words = [", ".join(place), self.path, self.message]
        return ": ".join(word for word in words if word)


def with_path(path: str, message: str) -> str:
    """A message after the path that it is about; alone where it is about none."""
    return f"{path}: {message}" if path else message


def short(text: str, most: int = 60) -> str:
    """A text as it may stand in a message: on one line and not too long, whatever it holds."""
    cut = text if len(text) <= most else text[: most - 3] + "..."
    return cut if cut.isprintable() else cut.encode("unicode_escape").decode()


def nearest(name: str, candidates: list[str] | tuple[str, ...]) -> str:
    """The tail of a message about an unknown name: the one that was probably meant, or all there are."""
    lowered = {candidate.lower(): candidate for candidate in candidates}
    close = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6) if len(name) <= LONGEST else []
    if close:
        return f'; did you mean "{short(lowered[close[0]])}"?'
    if not candidates:
        return "; there are none"
    shown = [f'"{short(candidate)}"' for candidate in candidates[:MOST_SHOWN]]
    more = len(candidates) - len(shown)
    are = "is" if len(candidates) == 1 else "are"
    return f"; there {are} {', '.join(shown)}{f' and {more} more' * (more > 0)}"
