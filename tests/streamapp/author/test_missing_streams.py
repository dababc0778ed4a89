"""A stream that does not exist is named in the words of the system that was asked for it."""

from typing import Any

from streamapp.author.problems import proposal_problems
from streamapp.author.proposal import PlanningInputs, propose
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp

KAFKA: dict[str, Any] = {"name": "main", "kafka": {"bootstrapServers": "127.0.0.1:9092"}}
EMBEDDED: dict[str, Any] = {"name": "main", "embedded": {"path": "data"}}
COLUMNS = "user STRING, page STRING"
READERS = [{"name": "both", "merge": {"from": ["views", "clicks"]}}]
OUT = [{"name": "sent", "sendTo": {"from": "both", "stream": "out"}}]


def app_on(system: dict[str, Any]) -> StreamApp:
    streams = [
        {"name": "views", "system": "main", "columns": COLUMNS},
        {"name": "clicks", "system": "main", "columns": COLUMNS, "topic": "shop.cliks"},
        {"name": "out", "system": "main"},
    ]
    parsed = parse_data(
        {
            "apiVersion": "streamapp.dev/v1alpha1",
            "kind": "StreamApp",
            "metadata": {"name": "shop"},
            "spec": {
                "systems": [system],
                "streams": [
                    {key: value for key, value in stream.items() if system is KAFKA or key != "topic"}
                    for stream in streams
                ],
                "operators": [*READERS, *OUT],
            },
        }
    )
    assert not parsed.problems
    return parsed.apps[0]


def told(app: StreamApp, counts: dict[str, int | None], *, asked: bool = True) -> list[tuple[str, str]]:
    inputs = PlanningInputs(counts, asked=frozenset(counts) if asked else frozenset())
    return [(problem.path, problem.message) for problem in proposal_problems(app, propose(app, inputs))]


def test_a_topic_is_named_with_the_brokers_that_were_asked() -> None:
    assert told(app_on(KAFKA), {"views": 4, "clicks": None, "out": 4}) == [
        (
            "spec.streams[1]",
            'topic "shop.cliks" does not exist on 127.0.0.1:9092; '
            "create it, or correct topic and system where the app declares it",
        )
    ]


def test_several_topics_are_one_sentence() -> None:
    ((_, message),) = told(app_on(KAFKA), {"views": None, "clicks": None, "out": None})
    assert message.startswith('topics "views", "shop.cliks" do not exist on 127.0.0.1:9092; create them')


def test_a_stream_of_a_log_is_named_with_what_writes_it() -> None:
    assert told(app_on(EMBEDDED), {"views": 4, "clicks": None, "out": 4}) == [
        (
            "spec.streams[1]",
            'stream "clicks" does not exist in the embedded log; '
            "write the first rows, as with `streamapp log write APP clicks FILE`",
        )
    ]


def test_nobody_says_that_a_stream_does_not_exist_who_has_not_asked() -> None:
    ((_, message),) = told(app_on(KAFKA), {"views": 4, "clicks": None, "out": None}, asked=False)
    assert message.startswith("the partition count of the stream clicks (system main) is unknown")
