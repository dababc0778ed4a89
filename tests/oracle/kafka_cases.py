"""Cases as a broker of Kafka takes them: those whose answer is the same there, under names of their own."""

from dataclasses import replace
from typing import Final

from tests.oracle.cases.case import Advance, Case, Send
from tests.oracle.cases.resource_reading import milliseconds

MOST_AHEAD_MS: Final = 3_600_000
"""A broker refuses records that are later, unless it is told otherwise."""


def fits_kafka(case: Case) -> bool:
    """True if the answer is the same in topics.

    Ends of transactions take offsets there, by which records without a key would go elsewhere; records have
    no times before 1970, and none that is far ahead of the broker's; topics have names of their own; and a
    registry is in the kit's memory alone.
    """
    records = [record for step in case.steps if isinstance(step, Send) for record in step.records]
    fields = {field for stream in case.spec["streams"] for field in stream.get("metadata", ())}
    jumps = [milliseconds(step.by) for step in case.steps if isinstance(step, Advance)]
    return (
        not case.needs_kit
        and sum(jumps) < MOST_AHEAD_MS
        and not fields & {"offset", "topic"}
        and all(record.timestamp >= 0 for record in records)
        and (case.partitions == 1 or all(record.key is not None for record in records))
    )


def named_apart(case: Case, prefix: str) -> Case:
    """The case with topics and an application id that nothing else on the broker has."""
    streams = [
        {**stream, "topic": f"{prefix}{stream.get('topic', stream['name'])}"}
        for stream in case.spec["streams"]
    ]
    spec = {**case.spec, "streams": streams, "applicationId": f"{prefix}oracle"}
    return replace(case, resource={**case.resource, "spec": spec})
