"""Sample data for the examples: users, what they viewed, and what has to come of it."""

import json
import random
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

COUNTRIES = ("DE", "FR", "JP", "NG", "PE", "US")
PAGES = ("/", "/cart", "/health", "/shop", "/shop/boots", "/shop/hats")
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
STRANGERS = 10
"""One user in so many is in nobody's table, and is not joined."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Rows of the two streams."""

    users: list[dict[str, object]]
    views: list[dict[str, object]]

    def write(self, folder: Path) -> None:
        """As files of JSON lines, one for each stream."""
        for name, rows in (("users", self.users), ("views", self.views)):
            text = "".join(f"{json.dumps(row)}\n" for row in rows)
            (folder / f"{name}.jsonl").write_text(text, "utf-8")

    def views_by_country(self) -> Counter[object]:
        """What `country-views` has to find, computed without it."""
        country = {user["user"]: user["country"] for user in self.users}
        real = [view["user"] for view in self.views if not str(view["page"]).startswith("/health")]
        return Counter(country[user] for user in real if user in country)


def sample(users: int, views: int, seed: int = 7) -> Sample:
    """Some users and their views; the same for the same seed."""
    chosen = random.Random(seed)  # noqa: S311 - nothing is secret here
    known = [
        {"user": f"u{number}", "country": chosen.choice(COUNTRIES), "tier": chosen.randrange(3)}
        for number in range(users)
    ]
    everybody = users + users // STRANGERS
    viewed: list[dict[str, object]] = [
        {
            "user": f"u{chosen.randrange(everybody)}",
            "page": chosen.choice(PAGES),
            "ts": (BEGIN + timedelta(seconds=number)).isoformat(),
        }
        for number in range(views)
    ]
    return Sample(known, viewed)
