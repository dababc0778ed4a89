"""What the besieged app has to have written, computed from its input in plain Python."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tests.harness.crash.view_streams import Row


@dataclass(frozen=True, slots=True)
class Model:
    enriched: Counter[str]
    totals: dict[str, list[int]]  # of each user, the sum after so many views


def model(users: Iterable[Row], views: Iterable[Row]) -> Model:
    countries = {row["user"]: row["country"] for row in users}
    enriched: Counter[str] = Counter()
    totals: dict[str, list[int]] = {}
    for view in views:
        if view["page"] == "/health":
            continue
        sums = totals.setdefault(view["user"], [0])
        sums.append(sums[-1] + view["n"])
        if view["user"] in countries:
            enriched[_text({"user": view["user"], "n": view["n"], "country": countries[view["user"]]})] += 1
    return Model(enriched, totals)


def missing(expected: Model, enriched: Sequence[Row], totals: Iterable[Row]) -> int:
    """How much has not been written yet; what stands there too often or wrongly does not count."""
    last = {row["user"]: row["views"] for row in totals}
    late = sum(last.get(user, 0) < len(sums) - 1 for user, sums in expected.totals.items())
    return late + (expected.enriched - Counter(map(_text, enriched))).total()


def differences(expected: Model, enriched: Sequence[Row], totals: Iterable[Row]) -> Iterator[str]:
    """Everything in which the outputs are not what they have to be."""
    found = Counter(map(_text, enriched))
    yield from (f"lost: {row}" for row in expected.enriched - found)
    yield from (f"too often: {row}" for row in found - expected.enriched)
    last: dict[str, int] = {}
    for row in totals:
        user, views = row["user"], row["views"]
        sums = expected.totals.get(user, [0])
        if not last.get(user, 0) < views < len(sums):
            yield f"{user}: a total of {views} views came after one of {last.get(user, 0)}"
        elif row["total"] != sums[views]:
            yield f"{user}: {views} views make {row['total']}, not {sums[views]}"
        last[user] = views
    for user, sums in expected.totals.items():
        if last.get(user, 0) != len(sums) - 1:
            yield f"{user}: the last total is of {last.get(user, 0)} views, not of {len(sums) - 1}"


def _text(row: Row) -> str:
    return json.dumps(row, sort_keys=True)
