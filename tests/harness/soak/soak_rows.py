"""The rows of a soak: what each is follows from its number alone, so that a model needs no copy of them."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

USERS: Final = 1_000
MOST_RATE: Final = USERS * 1_000 // 400
"""Views a second: a user's next view has to be out of reach of the click on the one before."""
SESSION_ROWS: Final = 16
CLICK_EVERY: Final = 8
WINDOW_MS: Final = 5_000
_STEP: Final = 7_919  # prime to USERS: each user comes once in so many rows as there are users


@dataclass(frozen=True, slots=True)
class SoakRows:
    """Rows that come evenly from a time on."""

    base_ms: int
    rate: int

    def time_ms(self, n: int) -> int:
        """When a view is due, which is its event time."""
        return self.base_ms + n * 1_000 // self.rate

    def view(self, n: int) -> dict[str, Any]:
        """One view."""
        return {"user": user_of(n), "session": session_of(n), "n": n, "ts": _text(self.time_ms(n))}

    def clicks(self, n: int) -> Iterator[dict[str, Any]]:
        """The click on a view, if there is one."""
        if n % CLICK_EVERY == 0:
            yield {"user": user_of(n), "clicked": n, "at": _text(self.time_ms(n))}

    def windows(self, count: int) -> dict[tuple[str, int], list[int]]:
        """Of each session and beginning of a window: how many views, and the sum of their numbers."""
        windows: dict[tuple[str, int], list[int]] = {}
        for n in range(count):
            start = self.time_ms(n) // WINDOW_MS * WINDOW_MS
            window = windows.setdefault((session_of(n), start), [0, 0])
            window[0] += 1
            window[1] += n
        return windows


def user_of(n: int) -> str:
    return f"user-{n * _STEP % USERS}"


def session_of(n: int) -> str:
    return f"session-{n // SESSION_ROWS}"


def country_of(user: str) -> str:
    return f"c{int(user.removeprefix('user-')) % 7}"


def users() -> Iterator[dict[str, Any]]:
    """The table."""
    for number in range(USERS):
        yield {"user": f"user-{number}", "country": country_of(f"user-{number}")}


def encoded(row: dict[str, Any]) -> bytes:
    return json.dumps(row).encode()


def _text(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1_000, UTC).isoformat(timespec="milliseconds")
