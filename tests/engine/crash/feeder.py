"""A process that appends views as long as its input stays open, and numbers them."""

import random
import select
import sys
from pathlib import Path

from streamapp_runtime.systems.embedded.log import EmbeddedSystem
from tests.engine.crash.streams import append

USERS = 300
PACE_SECONDS = 0.3


def feed(folder: Path, seed: int) -> int:
    """How many views were written."""
    chance = random.Random(seed)  # noqa: S311
    system = EmbeddedSystem(folder)
    written = 0
    while not select.select([sys.stdin], [], [], PACE_SECONDS)[0]:
        pages = chance.choices(["/health", "/a", "/b"], k=chance.randrange(1, 100))
        users = (f"user-{chance.randrange(USERS)}" for _ in pages)
        views = [
            {"user": user, "page": page, "n": written + place}
            for place, (user, page) in enumerate(zip(users, pages, strict=True))
        ]
        append(system, "views", views)
        written += len(views)
    system.close()
    return written


if __name__ == "__main__":
    print(feed(Path(sys.argv[1]), int(sys.argv[2])))  # noqa: T201
