"""Random data and events: records as they really come, and what happens to the app meanwhile."""

import random
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from tests.oracle.cases.app_draft import KEY_COLUMN
from tests.oracle.cases.app_generator import RandomApp, random_app
from tests.oracle.cases.case import (
    GOOD_FRAMINGS,
    TABLES,
    Advance,
    Case,
    Framing,
    Grow,
    InputRecord,
    Kill,
    Restart,
    Row,
    Send,
    Step,
)
from tests.oracle.cases.column_values import from_ms, key_pool, key_text, random_headers, random_value
from tests.oracle.cases.resource_reading import columns_of, input_streams, milliseconds

STARTS = (
    "2026-01-01T00:00",
    "1969-12-31T23:59:50",
    "1900-01-01T00:00",
    "2024-03-31T00:59:55",
    "2024-10-27T00:59:55",
)


def random_case(seed: int) -> Case:
    """The case of a seed."""
    chance = random.Random(seed)  # noqa: S311 - nothing here is secret
    partitions, whole_sends = chance.choice((1, 1, 2, 3, 4)), chance.random() < 0.6
    app = random_app(chance, partitions, whole_sends)
    resource = app.resource
    processors = chance.choice((1, 1, 2, 3))
    writer = _Writer(chance, app, whole_sends, partitions)
    steps = writer.steps(is_batch=resource["spec"]["mode"] == "batch")
    for edit in app.edits:
        steps.insert(chance.randint(0, len(steps)), edit)
    schemas = {name: tuple(one.text for one in versions) for name, versions in app.schemas.items()}
    return Case(seed, resource, partitions, processors, whole_sends, tuple(steps), schemas, app.key_schemas)


def in_unit(time: int, stream: Mapping[str, Any]) -> datetime | int:
    """A time in milliseconds as the stream's column has it."""
    unit = stream.get("eventTime", {}).get("unit")
    return from_ms(time) if unit is None else time // {"milliseconds": 1, "seconds": 1000}[unit]


class _Writer:
    """Writes records of growing time, out of order by as much as the case bears."""

    def __init__(self, chance: random.Random, app: RandomApp, whole_sends: bool, partitions: int):
        self.chance, self.spec, self.schemas = chance, app.resource["spec"], app.schemas
        self.partitions = partitions
        self.now = int(datetime.fromisoformat(chance.choice(STARTS) + "+00:00").timestamp() * 1000)
        # How many tasks have a broadcast stream after a growth is for later.
        self.tables = {one["name"] for one in self.spec["streams"] if one["system"] == TABLES}
        self.may_grow = not self.tables and not any("broadcast" in one for one in self.spec["operators"])
        self.in_time = not whole_sends or chance.random() < 0.5
        self.waits = any("arrival" in one.get("join", {}).values() for one in self.spec["operators"])
        self.next_id = 0
        types = {columns_of(s)[KEY_COLUMN] for s in input_streams(self.spec)}
        self.keys = {kind: key_pool(chance, kind) for kind in sorted(types)}
        sides = [side for table in self.spec["tables"] for side in table.get("sideInputs", ())]
        self.in_versions = {side["stream"]: side["bootstrap"] for side in sides if "versions" in side}
        delays = [s["eventTime"]["delay"] for s in self.spec["streams"] if "eventTime" in s]
        self.disorder = min(map(milliseconds, delays), default=5_000)
        if not self.in_time:
            self.disorder = self.disorder * 3 + 4_000

    def steps(self, *, is_batch: bool) -> list[Step]:
        chance, streams = self.chance, input_streams(self.spec)
        steps: list[Step] = [self.send(one) for one in streams if one["name"] in self.tables]
        streams = [one for one in streams if one["name"] not in self.tables]
        if first := [stream for stream in streams if self.in_versions.get(stream["name"])]:
            steps.append(self.send(first[0], ends=1))  # rows would wait for as long as it has no version
        for _ in range(chance.randint(1, 7)):
            steps.append(self.send(chance.choice(streams)))
            if not is_batch and self.waits and chance.random() < 0.4:
                steps.append(Advance("400d"))
            if not is_batch and chance.random() < 0.3:
                steps.append(
                    chance.choice((Kill(False), Kill(True), Restart(), Advance("1s"), Advance("400d")))
                )
        if not is_batch and self.may_grow and chance.random() < 0.3:
            places = sorted(chance.randint(0, len(steps)) for _ in range(chance.choice((1, 1, 2))))
            for times, place in enumerate(places):
                steps.insert(place + times, Grow(self.partitions * 2 ** (times + 1)))
        return steps

    def send(self, stream: Mapping[str, Any], ends: int = 0) -> Send:
        chance = self.chance
        count = chance.choice((0, 1, 2, 5, 12, 30))
        records = [self.record(stream) for _ in range(count)]
        if records and chance.random() < 0.15:
            records.append(records[-1] if self.in_time else chance.choice(records))  # the same again
        if stream["name"] in self.in_versions:
            for _ in range(self.partitions * (ends or chance.choice((0, 0, 1, 1, 2)))):
                row = {name: random_value(chance, kind) for name, kind in columns_of(stream).items()}
                records.append(InputRecord(None, chance.choice((None, row)), self.now))
        return Send(stream["name"], tuple(records))

    def record(self, stream: Mapping[str, Any]) -> InputRecord:
        chance = self.chance
        columns = columns_of(stream)
        has_key = chance.random() > 0.06
        key = chance.choice(self.keys[columns[KEY_COLUMN]]) if has_key else None
        headers = random_headers(chance)
        if chance.random() < 0.06 and key is not None:
            return InputRecord(key_text(key), None, self.now, headers)
        self.now += chance.choice((0, 0, 1, 400, 1_000, 2_500, 9_000))
        version, framing, kinds = self.version(stream)
        row: Row = {name: random_value(chance, kinds[name]) if name in kinds else None for name in columns}
        row[KEY_COLUMN] = key
        if "id" in columns:
            self.next_id += 1
            row["id"] = self.next_id
            behind = chance.choice((0, 0, self.disorder, chance.randint(0, max(self.disorder, 1))))
            time = self.now - min(behind, self.disorder)
            row["ts"] = in_unit(time, stream) if chance.random() > 0.04 else None
            if isinstance(row["ts"], datetime):
                row["ts"] += timedelta(microseconds=chance.choice((0, 0, 0, 1, 999)))
        return InputRecord(key_text(key), row, self.now, headers, version, framing)

    def version(self, stream: Mapping[str, Any]) -> tuple[int, Framing, Mapping[str, str]]:
        """The schema that a record is written by, how it says so, and the columns that it has there."""
        versions, chance = self.schemas.get(stream["name"]), self.chance
        if versions is None:
            return 0, Framing.BEFORE, columns_of(stream)
        number = chance.randrange(len(versions))
        framings = [Framing.BEFORE]
        if not stream.get("metadata", {}).keys() & {"headers", "headerList"}:  # they would have the id
            framings.append(Framing.HEADER)
        if chance.random() < 0.04:
            framings = [framing for framing in Framing if framing not in GOOD_FRAMINGS]
        return number, chance.choice(framings), versions[number].kinds
