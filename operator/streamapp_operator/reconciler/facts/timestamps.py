"""Times as Kubernetes writes them, and as numbers to reckon with."""

from datetime import UTC, datetime


def parse_timestamp(text: str | None) -> float | None:
    """Seconds since 1970 of a time such as `2026-11-20T12:00:00Z`; None for what is none."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def format_timestamp(moment: float) -> str:
    """A time to the second, as Kubernetes writes it."""
    return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
