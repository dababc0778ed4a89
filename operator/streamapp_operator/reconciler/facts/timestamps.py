"""Converts between timestamps of Kubernetes and seconds."""

from datetime import UTC, datetime


def parse_timestamp(text: str | None) -> float | None:
    """Seconds since 1970 of a time such as `2026-11-20T12:00:00Z`; None for text that is no timestamp."""
    if not text:
        return None
    try:
        timestamp = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)).timestamp()


def format_timestamp(moment: float) -> str:
    """A timestamp of Kubernetes, to the second."""
    return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
