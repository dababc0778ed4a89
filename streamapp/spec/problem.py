"""What is wrong with an input, said so that a person can act on it."""

from dataclasses import dataclass
from difflib import get_close_matches

from streamapp.spec.reasons import Reason


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


def quoted(names: object) -> str:
    """Names as a reader expects them in a sentence: "a", "b" and "c" in their given order."""
    words = [f'"{name}"' for name in names] if isinstance(names, (list, tuple)) else [f'"{names}"']
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}" if words else "none"


def nearest(name: str, known: list[str] | tuple[str, ...]) -> str:
    """The tail of a message about an unknown name: the one that was probably meant, or all there are."""
    lowered = {candidate.lower(): candidate for candidate in known}
    close = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.6)
    if close:
        return f'; did you mean "{lowered[close[0]]}"?'
    if not known:
        return "; there are none"
    shown = [f'"{candidate}"' for candidate in known[:8]]
    return f"; there {'is' if len(known) == 1 else 'are'} {', '.join(shown)}{' …' * (len(known) > 8)}"
