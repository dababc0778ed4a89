"""The names that follow from an app: its processors, and the streams that it keeps for itself.

Topics, transactional ids and state folders outlive every process, so each of these names is composed here
alone. Names of intermediate streams are the resource's own (`StreamApp.intermediate_stream`).
"""

from typing import Final

CHECKPOINT: Final = "checkpoint"
"""What an operator that makes a stream may not be called: that stream holds the checkpoints."""


def processor_names(count: int) -> tuple[str, ...]:
    """The processors of an app, in the order of their numbers."""
    return tuple(f"processor-{index}" for index in range(count))


def checkpoint_stream(application_id: str) -> str:
    """The stream that holds checkpoints, the layout, and what drivers record beside them."""
    return f"{application_id}.{CHECKPOINT}"


def changelog_stream(application_id: str, table: str) -> str:
    """The stream that a table, or an operator's own state, is restored from."""
    return f"{application_id}.{table}.changelog"


def outbox_stream(application_id: str, stream: str) -> str:
    """The stream of the home that takes the rows of an output in another system, until they are delivered."""
    return f"{application_id}.{stream}.outbox"


def import_stream(application_id: str, stream: str) -> str:
    """The stream of the home that takes the rows of a table that is read, before they are."""
    return f"{application_id}.{stream}.import"


def delivery_stream(application_id: str) -> str:
    """The stream of another system that holds the positions up to which outboxes are delivered into it."""
    return f"{application_id}.delivery"


def stream_prefix(application_id: str) -> str:
    """The prefix of the names of all streams that an app makes."""
    return f"{application_id}."
