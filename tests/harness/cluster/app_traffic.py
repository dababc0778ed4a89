"""The streams of a test's app on the cluster's brokers, and what the app has to have made of them.

The app filters views, joins them with users into `enriched` and counts them into `totals`, as the besieged
app of the engine's tests does; the same plain model says what has to come out.
"""

import random
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from tests.harness.crash.view_feeder import USERS, known_users
from tests.harness.crash.view_model import differences, model
from tests.harness.crash.view_streams import Row
from tests.harness.kafka.topic_records import committed, create, produce

BROKER = "127.0.0.1:30092"
"""Where the broker is for tests; `kafka.yaml` and the cluster's port mapping agree on it."""
OTHER_BROKER = "127.0.0.1:30093"
"""Where the second broker is, for tests that start it."""


def topics_anew(test: str, counts: Mapping[str, int], address: str = BROKER) -> None:
    """Make a test's topics; what it had goes first, its app's own too: all begin with its name."""
    client = AdminClient({"bootstrap.servers": address, "log_level": 0})
    while left := [name for name in client.list_topics(timeout=60).topics if name.startswith(f"{test}.")]:
        for done in client.delete_topics(left).values():
            with suppress(KafkaException):  # it is going already
                done.result(60)
    create(address, {f"{test}.{stream}": count for stream, count in counts.items()})


@dataclass(slots=True)
class Traffic:
    """What one test has written; its topics have the test's name before theirs."""

    test: str
    elsewhere: frozenset[str] = frozenset()  # the streams that are at the other broker
    views: list[Row] = field(default_factory=list)
    _chance: random.Random = field(default_factory=lambda: random.Random(1))  # noqa: S311

    def topic(self, stream: str) -> str:
        """A stream's topic."""
        return f"{self.test}.{stream}"

    def address(self, stream: str) -> str:
        """The broker of a stream."""
        return OTHER_BROKER if stream in self.elsewhere else BROKER

    def begin(self, partitions: int = 4) -> None:
        """Make the input topics, with all users in them and no view; what an earlier run left goes first."""
        topics_anew(self.test, {"views": partitions, "users": partitions})
        produce(BROKER, self.topic("users"), known_users(), "user")

    def view(self, count: int = 500, among: int | None = None, stream: str = "views") -> None:
        """So many views more; `among` as many partitions as producers know that have not looked again."""
        begin = len(self.views)
        self.views += (self._view(number) for number in range(begin, begin + count))
        produce(self.address(stream), self.topic(stream), self.views[begin:], "user", among=among)

    def wrong(self) -> list[str]:
        """Everything in which the outputs are not what they have to be; that nothing has come yet, too."""
        return list(differences(model(known_users(), self.views), *self._found()))

    def _view(self, number: int) -> Row:
        user, page = self._chance.randrange(USERS), self._chance.choice(["/health", "/a", "/b"])
        return {"user": f"user-{user}", "page": page, "n": number}

    def _found(self) -> Iterator[list[Row]]:
        for stream in ("enriched", "totals"):
            try:
                yield [*committed(self.address(stream), self.topic(stream))]
            except KeyError:  # the app has not made it yet
                yield []
