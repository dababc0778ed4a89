"""A process that appends views as long as its input stays open, and numbers them.

It writes users again too, each as it was: the table that they fill changes all the time, and yet stays what
it is, so that it is known what every view meets. A small share of all records is not what the app takes.
"""

import random
import select
import sys
from pathlib import Path

from tests.harness.crash.faulty_records import RecordWriter
from tests.harness.crash.view_streams import LogStreams, Streams

USERS = 300


def known_users() -> list[dict[str, str]]:
    """The users in the table; the others meet nobody."""
    chance = random.Random(0)  # noqa: S311
    known = (f"user-{number}" for number in range(USERS) if number % 10)
    return [{"user": user, "country": chance.choice(["de", "fr", "us"])} for user in known]


def streams_at(place: str) -> Streams:
    """The streams of a broker, by its address, or of a log, by its folder."""
    if ":" not in place:
        return LogStreams(Path(place))
    from tests.harness.crash.view_topics import TopicStreams

    return TopicStreams(place)


def feed(streams: Streams, seed: int, pace: float) -> int:
    """How many views were written."""
    chance = random.Random(seed)  # noqa: S311
    written, known, writer = 0, known_users(), RecordWriter(random.Random(seed))  # noqa: S311
    while not select.select([sys.stdin], [], [], pace)[0]:
        pages = chance.choices(["/health", "/a", "/b"], k=chance.randrange(1, 100))
        users = (f"user-{chance.randrange(USERS)}" for _ in pages)
        views = [
            {"user": user, "page": page, "n": written + place}
            for place, (user, page) in enumerate(zip(users, pages, strict=True))
        ]
        streams.write("users", writer.users(chance.sample(known, 10)))
        streams.write("views", writer.views(views))
        written += len(views)
    streams.close()
    return written


if __name__ == "__main__":
    print(feed(streams_at(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))  # noqa: T201
