"""Right answers: what the guide says of each operator, over all rows at once, in SQL of DuckDB.

Rows of an operator are a table with its columns and hidden ones: `_n` their order, `_s` the step in which
they come, `_t` their task, `_k` their key, `_e` their event time in milliseconds, `_x` whether they are
tombstones, `_m` whether they may be missing yet.
"""

import itertools
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from typing import Any, Final

import duckdb
import pyarrow as pa

from tests.oracle.answers.edited_operators import EditedOperators
from tests.oracle.answers.key_partitions import partition
from tests.oracle.answers.own_code_answers import numbered_rows, rate_of
from tests.oracle.answers.time_reference import Emissions, sessions_of, windows_of
from tests.oracle.answers.watermarks import ENDED, Watermarks, lowest_of, partitions_at
from tests.oracle.answers.whole_versions import ENDLESS, whole_versions
from tests.oracle.cases.case import GOOD_FRAMINGS, Advance, Case, Grow, Header, InputRecord, Send
from tests.oracle.cases.column_values import (
    ARROW,
    HEADER_TYPES,
    WHOLE_VALUES,
    arrow_value,
    from_ms,
    metadata_columns,
    to_ms,
)
from tests.oracle.cases.resource_reading import (
    Part,
    columns_of,
    input_streams,
    milliseconds,
    sources_of,
    split_list,
)

HIDDEN: Final = "_n, _s, _t, _k, _e, _x, _m"
_HIDDEN_TYPES: Final = {
    "_n": pa.int64(), "_s": pa.int64(), "_t": pa.int64(), "_k": pa.binary(), "_e": pa.int64(),
    "_x": pa.bool_(), "_m": pa.bool_(),
}  # fmt: skip
_NEEDS_KEY: Final = ("aggregate", "join", "joinTable", "sendToTable", "process")
_MOST_WHOLE: Final = 2**63
_MOST_DECIMAL: Final = 10**36


class UnjudgedError(Exception):
    """The guide leaves open what is right here, or the reference does not know it yet."""


@dataclass(frozen=True, slots=True)
class ExpectedRow:
    """One record of an output."""

    key: bytes | None
    time: int
    row: tuple[Any, ...] | None  # in the order of the columns; None of a tombstone
    certain: bool = True
    headers: tuple[Header, ...] = ()


@dataclass(frozen=True, slots=True)
class ExpectedStream:
    """The records of an output, in any order; of some only the newest of each group is certain."""

    columns: tuple[str, ...]
    records: tuple[ExpectedRow, ...]
    newest_of: tuple[str, ...] | None = None  # the columns of the group
    timed: bool = True  # whether the guide says which times they have
    orders_headers: bool = True  # else they come of a map

    def comparable_headers(self, headers: tuple[Header, ...]) -> tuple[Header, ...]:
        """The headers, in their order where that follows from the app."""
        return headers if self.orders_headers else tuple(sorted(headers, key=itemgetter(0)))


@dataclass(slots=True)
class Expected:
    """What comes of a case."""

    streams: dict[str, ExpectedStream] = field(default_factory=dict)
    tables: dict[str, dict[bytes, tuple[Any, ...]]] = field(default_factory=dict)
    table_columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    late: list[tuple[str, int]] = field(default_factory=list)  # operator and time
    open: list[tuple[str, int, int, int | None]] = field(default_factory=list)
    """Operators with windows that wait: how many, the first end, and the lowest watermark of their tasks."""
    bad: int = 0
    may_overflow: bool = False  # whether a sum may pass its bounds, which makes records bad
    unread: int = 0  # of these, in side inputs that the end of a batch app may leave unread


class Reference:
    """Works a case out, operator by operator."""

    def __init__(self, case: Case) -> None:
        self.case, self.spec = case, case.spec
        self.edited = EditedOperators.of(case)
        self.operators = self.edited.operators
        self.columns: dict[str, list[str]] = {}
        self.keys: dict[str, str | None] = {}
        self.newest_of: dict[str, tuple[str, ...]] = {}
        self.partitions: dict[str, list[int]] = {}  # of the rows of streams, by their numbers
        self.expected = Expected()
        self.sql = duckdb.connect(config={"threads": "1"})
        self.sql.execute("SET TimeZone = 'UTC'")
        self.last_step = 0 if case.is_batch else len(case.steps)
        self.watermarks = Watermarks(case, self.operators)
        self.works: dict[str, Callable[[str, Part], None]] = {
            "filter": self._filter,
            "map": self._map,
            "flatMap": self._flat_map,
            "process": self._process,
            "merge": self._merge,
            "partitionBy": self._partition_by,
            "broadcast": self._broadcast,
            "join": self._join,
            "joinTable": self._join_table,
            "sendToTable": self._send_to_table,
            "aggregate": self._aggregate,
            "sendTo": self._send_to,
        }

    def work_out(self) -> Expected:
        """What comes of all operators."""
        try:
            for stream in input_streams(self.spec):
                self._read(stream)
            for table in self.spec["tables"]:
                if table.get("sideInputs"):
                    self._fill(table)
            for name in _in_order(self.operators):
                kind, body = self.operators[name]
                self.works[kind](name, body)
        except duckdb.OutOfRangeException as error:
            raise UnjudgedError(f"a total does not fit: {error}") from None
        finally:
            self.sql.close()
        return self.expected

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query as Python has them."""
        table = self.sql.sql(query).to_arrow_table()
        return list(zip(*(column.to_pylist() for column in table.columns), strict=True))

    def _table(self, name: str, types: dict[str, pa.DataType], rows: Sequence[tuple[Any, ...]]) -> None:
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(types)
        arrays = [pa.array(column, kind) for column, kind in zip(columns, types.values(), strict=True)]
        held = pa.Table.from_arrays(arrays, names=list(types))
        self.sql.register("held", held)
        self.sql.execute(f'CREATE TABLE "{name}" AS SELECT * FROM held')
        self.sql.unregister("held")

    def _select(self, name: str, columns: Iterable[str], query: str) -> None:
        self.columns[name] = list(columns)
        self.sql.execute(f'CREATE TABLE "{name}" AS {query}')

    # Streams

    def _read(self, stream: Part) -> None:
        name, types = stream["name"], columns_of(stream)
        relied = self._relies_on_key(name) and stream.get("keys") != "unchecked"
        rows, written = [], Counter[int]()
        places = self.partitions[name] = []
        of_records = stream.get("metadata", {})
        topic, has_text_keys = stream.get("topic", name), of_records.get("keyFormat") == "string"
        partitioner = stream.get("partitioner", "murmur2")
        sides = [side for table in self.spec["tables"] for side in table.get("sideInputs", ())]
        side_inputs = {side["stream"] for side in sides}
        in_versions = {side["stream"] for side in sides if "versions" in side}
        for step, record, turn in self._records(name):
            count = partitions_at(self.case, step)
            place = turn % count if record.key is None else partition(record.key, count, partitioner)
            offset = written[place]
            written[place] += 1
            lacks_key = stream.get("key") and record.key is None
            ends_version = record.key is None and name in in_versions  # whatever its value is
            unreadable = record.framing not in GOOD_FRAMINGS and not ends_version
            if unreadable or (relied and lacks_key):
                self.expected.bad += 1
                self.expected.unread += self.case.is_batch and name in side_inputs
                continue
            time = self._event_time(stream, record)
            if stream.get("eventTime") and record.row is not None and record.row.get("ts") is not None:
                self.watermarks.note(name, step, place, time)
            row = record.row or {}
            hidden = (len(rows), step, place % self.case.tasks, record.key, time, record.row is None, False)
            own = {
                "key": record.key.decode() if record.key is not None and has_text_keys else record.key,
                "topic": topic,
                "timestamp": from_ms(record.timestamp),
                "partition": place,
                "offset": offset,
                "headers": list(dict(record.headers).items()),
                "headerList": [{"name": name, "value": value} for name, value in record.headers],
            }
            beside = (own[one] for one in of_records if one != "keyFormat")
            places.append(place)
            rows.append((*(arrow_value(row.get(column)) for column in types), *beside, *hidden))
        kinds = types | metadata_columns(stream)
        self._table(name, {**{c: (ARROW | HEADER_TYPES)[k] for c, k in kinds.items()}, **_HIDDEN_TYPES}, rows)
        self.columns[name], self.keys[name] = list(kinds), stream.get("key")

    def _records(self, stream: str) -> Iterator[tuple[int, InputRecord, int]]:
        """The step of each record, and which turn it would have without a key."""
        written = 0
        for number, step in enumerate(self.case.steps):
            if isinstance(step, Send) and step.stream == stream:
                without_key = 0
                for record in step.records:
                    yield 0 if self.case.is_batch else number, record, written + without_key
                    without_key += record.key is None
                written += len(step.records)

    @staticmethod
    def _event_time(stream: Part, record: InputRecord) -> int:
        moment = (record.row or {}).get("ts") if stream.get("eventTime") else None
        match moment:
            case None:
                return record.timestamp
            case int():
                return moment * {"milliseconds": 1, "seconds": 1000}[stream["eventTime"]["unit"]]
            case _:
                return to_ms(moment)

    def _fills_table(self, name: str) -> bool:
        """Whether records are rows of a table by the keys that they have; some are made."""
        sides = [side for table in self.spec["tables"] for side in table.get("sideInputs", ())]
        return any(
            side["stream"] == name and not side.keys() & {"python", "key", "versions"} for side in sides
        )

    def _relies_on_key(self, name: str) -> bool:
        """Whether something needs the key that lies in no stream of the app's own."""
        if self._fills_table(name):
            return True
        for operator, (kind, body) in self.operators.items():
            if name not in sources_of(body):
                continue
            if kind in _NEEDS_KEY and not (
                kind == "joinTable" and "key" in body and self._is_everywhere(body)
            ):
                return True
            if kind not in {"partitionBy", "broadcast"} and self._relies_on_key(operator):
                return True
        return False

    def _is_everywhere(self, body: Part) -> bool:
        table = self._table_of(body)
        return "remote" in table or bool(table.get("broadcast"))

    def _table_of(self, body: Part) -> Part:
        (table,) = (table for table in self.spec["tables"] if table["name"] == body["table"])
        return dict(table)

    def _is_untimed(self, name: str) -> bool:
        """Whether times are those of the last row of some whose order is left open."""
        if name not in self.operators:
            return False
        kind, body = self.operators[name]
        if kind == "aggregate":
            return "window" not in body and not self._has_order(body["from"])
        return any(map(self._is_untimed, sources_of(body)))

    def _has_order(self, name: str) -> bool:
        """Whether rows come in the order of records."""
        if name not in self.operators:
            return True
        kind, body = self.operators[name]
        return kind in {"filter", "map", "flatMap", "process", "joinTable"} and self._has_order(body["from"])

    def _send_to(self, name: str, body: Part) -> None:
        source = body["from"]
        (stream,) = (one for one in self.spec["streams"] if one["name"] == body["stream"])
        key = stream.get("key")
        columns = self.columns[source]
        written = (
            "_k" if key is None or key == self.keys[source] else f"CASE WHEN NOT _x THEN {_text_key(key)} END"
        )
        time = "_e"
        if "timestamp" in body:
            own = f'CAST(floor(epoch_us("{body["timestamp"]}") / 1000.0) AS BIGINT)'
            time = f"CASE WHEN _x THEN _e ELSE coalesce({own}, _e) END"
        during = self.edited.during(name)
        is_whole_value = stream.get("format") in WHOLE_VALUES.values()  # null would be a record that deletes
        values = f"coalesce({_quoted(columns)}, '')" if is_whole_value else _quoted(columns)
        listed = f"{body.get('headers', 'NULL')}, {values}"
        found = self.rows(
            f'SELECT {written}, {time}, _x, _m, {listed} FROM "{source}" WHERE {during} ORDER BY _n'
        )
        records = tuple(
            ExpectedRow(
                key, time, None if deletes else tuple(row), not waits, () if deletes else _headers(own)
            )
            for key, time, deletes, waits, own, *row in found
        )
        self.expected.streams[body["stream"]] = ExpectedStream(
            tuple(columns),
            records,
            self.newest_of.get(source),
            timed=not self._is_untimed(source),
            orders_headers=not any(
                isinstance(one, tuple) for _, _, _, _, own, *_ in found for one in own or ()
            ),
        )

    # Rows by themselves

    def _filter(self, name: str, body: Part) -> None:
        source = body["from"]
        self._like(name, source)
        where = self.edited.by_step(name, lambda version: str(version["where"]))
        self._select(name, self.columns[source], f'SELECT * FROM "{source}" WHERE _x OR ({where})')

    def _map(self, name: str, body: Part) -> None:
        source = body["from"]
        self._like(name, source)
        if "python" in body:
            nulls = " + ".join(f'CAST("{column}" IS NULL AS BIGINT)' for column in self.columns[source])
            self._by_python(name, body, f'SELECT *, {nulls} AS nulls FROM "{source}"')
            return
        lists = [split_list(version["select"]) for version in self.edited.versions(name)]
        names = [entry.rpartition(" AS ")[2] for entry in lists[0]]
        kept = [entry for entry in lists[0] if " AS " not in entry]
        self.keys[name] = self.keys[source] if self.keys[source] in kept else None
        made = [
            self.edited.by_step(name, lambda version, at=at: _expression(split_list(version["select"])[at]))
            for at in range(len(names))
        ]
        select = ", ".join(f'{text} AS "{column}"' for text, column in zip(made, names, strict=True))
        hidden = self._keyed(name, body)
        inner = f'SELECT {select}, {HIDDEN} FROM "{source}"'
        self._select(name, names, f"SELECT {_quoted(names)}, {hidden} FROM ({inner})")

    def _keyed(self, name: str, body: Part) -> str:
        """The hidden columns of rows that may get another key."""
        key = body.get("key")
        if key is None:
            return HIDDEN
        own = "_k" if self.keys[name] == key else "NULL"
        self.keys[name] = key
        return HIDDEN.replace("_k", f"CASE WHEN _x THEN {own} ELSE {_text_key(key)} END AS _k")

    def _by_python(self, name: str, body: Part, query: str) -> None:
        """The rows of a query with the columns that Python gives; no column is the key that they have."""
        self.keys[name] = None
        names = list(columns_of(body))
        hidden = self._keyed(name, body)
        self._select(name, names, f"SELECT {_quoted(names)}, {hidden} FROM ({query}) ORDER BY _n")

    def _flat_map(self, name: str, body: Part) -> None:
        """Each row as often as its `id` leaves a rest by three; a tombstone passes."""
        self._like(name, body["from"])
        times = "CASE WHEN r._x THEN 1 ELSE coalesce(r.id, 0) % 3 END"
        number = "row_number() OVER (ORDER BY r._n, g.copy) AS _n"
        self._by_python(
            name,
            body,
            f'SELECT r.* REPLACE ({number}), g.copy FROM "{body["from"]}" r '
            f"JOIN range(3) AS g(copy) ON g.copy < {times}",
        )

    def _process(self, name: str, body: Part) -> None:
        """Each row with its number among those of its key."""
        source = body["from"]
        self._like(name, source)
        rows = self.rows(f'SELECT _n, _k, _x FROM "{source}" ORDER BY _n')
        numbers, last = numbered_rows(rows)
        self._table(f"{name}-numbers", {"_n": pa.int64(), "seen": pa.int64()}, numbers)
        self._by_python(name, body, f'SELECT * FROM "{source}" JOIN "{name}-numbers" USING (_n)')
        for table in body.get("tables", ()):
            self.expected.tables[table] = {key: (number,) for key, number in last.items()}
            self.expected.table_columns[table] = ("seen",)

    def _like(self, name: str, source: str) -> None:
        self.keys[name] = self.keys[source]
        if source in self.newest_of:
            self.newest_of[name] = self.newest_of[source]

    def _merge(self, name: str, body: Part) -> None:
        first, *others = body["from"]
        listed = _quoted(self.columns[first])
        parts = [
            f'SELECT {listed}, {HIDDEN}, {place} AS _place FROM "{source}"'
            for place, source in enumerate((first, *others))
        ]
        self.keys[name] = self.keys[first]
        numbered = (
            "SELECT * EXCLUDE (_place) REPLACE (row_number() OVER (ORDER BY _s, _place, _n) AS _n) "
            f"FROM ({' UNION ALL '.join(parts)})"
        )
        self._select(name, self.columns[first], f"{numbered} ORDER BY _n")

    def _partition_by(self, name: str, body: Part) -> None:
        source, key = body["from"], body["key"]
        keeps = "_k" if self.keys[source] == key else "NULL"
        self.sql.execute(
            f'CREATE TABLE "{name}-keys" AS SELECT * REPLACE '
            f'(CASE WHEN _x THEN {keeps} ELSE {_text_key(key)} END AS _k) FROM "{source}"'
        )
        keys = [key for (key,) in self.rows(f'SELECT DISTINCT _k FROM "{name}-keys"')]
        count = body["partitions"]
        tasks = self.case.tasks
        places = [(key, 0 if key is None else partition(key, count) % tasks) for key in keys]
        self._table(f"{name}-places", {"_k": pa.binary(), "_p": pa.int64()}, places)
        self._select(
            name,
            self.columns[source],
            f'SELECT r.* REPLACE (p._p AS _t) FROM "{name}-keys" r JOIN "{name}-places" p '
            "ON r._k IS NOT DISTINCT FROM p._k ORDER BY _s, _n",
        )
        self.keys[name] = key

    def _broadcast(self, name: str, body: Part) -> None:
        source = body["from"]
        self._like(name, source)
        tasks = self.case.tasks
        self._select(
            name,
            self.columns[source],
            f'SELECT r.* REPLACE (g.task AS _t) FROM "{source}" r, range({tasks}) AS g(task) ORDER BY _n',
        )

    # Tables

    def _fill(self, table: Part) -> None:
        (side,) = table["sideInputs"]
        source, name = side["stream"], table["name"]
        if "python" in side:
            key, second, *others = self.columns[source]
            made = ", ".join([f'"{key}" AS tk', _quoted([second, *others])])
            hidden = HIDDEN.replace("_k", f"CASE WHEN _x THEN _k ELSE {_text_key(key)} END AS _k")
            hidden = hidden.replace("_x,", f'_x OR "{second}" IS NULL AS _x,')
            self._select(name, ["tk", second, *others], f'SELECT {made}, {hidden} FROM "{source}"')
            self._table_versions(table, side)
            return
        names = [entry.rpartition(" AS ")[2] for entry in split_list(side["value"])]
        hidden = HIDDEN
        if "key" in side:
            own = "_k" if side["key"] == self.keys[source] else "NULL"
            made = f"CASE WHEN _x THEN {own} ELSE {_text_key(side['key'])} END AS _k"
            hidden = HIDDEN.replace("_k", made)
        self._select(name, names, f'SELECT {side["value"]}, {hidden} FROM "{source}"')
        keyed = self.rows(f'SELECT _n, _k FROM "{name}" WHERE _k IS NOT NULL')
        entries = {(key, self.partitions[source][number]) for number, key in keyed}
        if max(Counter(key for key, _ in entries).values(), default=0) > 1:
            raise UnjudgedError("rows of a table's key come from several partitions, in any order")
        self._table_versions(table, side)

    def _send_to_table(self, operator: str, body: Part) -> None:
        source, name = body["from"], body["table"]
        deleted = f"_x OR coalesce({body['deleteWhere']}, false)" if "deleteWhere" in body else "_x"
        during = self.edited.during(operator)
        rows = f'SELECT * REPLACE ({deleted} AS _x) FROM "{source}" WHERE {during}'
        self._select(name, self.columns[source], rows)
        self._versions(name)

    def _table_versions(self, table: Part, side: Part) -> None:
        """What a table shows: rows of their own, or of versions that are whole."""
        name, source = table["name"], side["stream"]
        if "versions" not in side:
            self._versions(name)
            return
        ends = {number for (number,) in self.rows(f'SELECT _n FROM "{source}" WHERE _k IS NULL')}
        records = [
            (number, step, self.partitions[source][number], key, deletes, number in ends)
            for number, step, key, deletes in self.rows(f'SELECT _n, _s, _k, _x FROM "{name}" ORDER BY _n')
        ]
        tasks = 1 if table.get("broadcast") else self.case.tasks
        versions = whole_versions(records, self.last_step + 1, tasks, partial(partitions_at, self.case))
        if side["bootstrap"] and (len(versions.first) < tasks or max(versions.first.values()) > 0):
            raise UnjudgedError("rows wait for the first version of a table")
        if table.get("store") == "memory" and any(isinstance(step, Grow) for step in self.case.steps):
            raise UnjudgedError("a table in memory has no version again until new partitions end one")
        self._table(f"{name}-shown", {one: pa.int64() for one in ("_n", "_from", "_to")}, versions.shown)
        listed = _quoted(self.columns[name])
        self.sql.execute(
            f'CREATE TABLE "{name}-versions" AS SELECT {listed}, _k, _x, _from, _to '
            f'FROM "{name}" JOIN "{name}-shown" USING (_n)'
        )
        self._expect_table(name)

    def _versions(self, name: str) -> None:
        """From and to which step each row of a table holds: of one step the last stays."""
        listed = _quoted(self.columns[name])
        self.sql.execute(
            f'CREATE TABLE "{name}-versions" AS SELECT {listed}, _k, _x, _s AS _from, '
            f"lead(_s, 1, {ENDLESS}) OVER (PARTITION BY _k ORDER BY _s) AS _to FROM "
            f'(SELECT * FROM "{name}" WHERE _k IS NOT NULL '
            "QUALIFY row_number() OVER (PARTITION BY _k, _s ORDER BY _n DESC) = 1)"
        )
        self._expect_table(name)

    def _expect_table(self, name: str) -> None:
        """The rows that a table has at the end."""
        listed = _quoted(self.columns[name])
        final = self.rows(f'SELECT _k, {listed} FROM "{name}-versions" WHERE _to = {ENDLESS} AND NOT _x')
        self.expected.tables[name] = {key: tuple(row) for key, *row in final}
        self.expected.table_columns[name] = tuple(self.columns[name])

    def _join_table(self, name: str, body: Part) -> None:
        source, table = body["from"], body["table"]
        if "remote" in self._table_of(body):
            self._join_remote(name, body)
            return
        listed = [f'r."{c}"' for c in self.columns[source]] + [f'v."{c}"' for c in self.columns[table]]
        columns = [*self.columns[source], *self.columns[table]]
        if "select" in body:
            entries = split_list(body["select"])
            columns = [entry.rpartition(" AS ")[2] for entry in entries]
            listed = [_of_row_or_table(entry, table) for entry in entries]
        looked_up = _text_key(f'r."{body["key"]}"') if "key" in body else "r._k"
        seen = (
            "r._s >= v._from AND r._s <= v._to" if self.case.is_batch else "r._s > v._from AND r._s <= v._to"
        )
        hidden = ", ".join(f"r.{column}" for column in HIDDEN.split(", "))
        unmatched = "true" if body.get("type") == "left" else "r._x OR v._k IS NOT NULL"
        self._like(name, source)
        self._select(
            name,
            columns,
            f'SELECT {", ".join(listed)}, {hidden} FROM "{source}" r LEFT JOIN "{table}-versions" v '
            f"ON v._k = {looked_up} AND NOT r._x AND NOT v._x AND {seen} WHERE {unmatched} ORDER BY r._n",
        )

    def _join_remote(self, name: str, body: Part) -> None:
        """Rows with what the remote table has for their keys, which follows from these alone."""
        source = body["from"]
        looked_up = _text_key(f'r."{body["key"]}"') if "key" in body else "r._k"
        keys = [key for (key,) in self.rows(f'SELECT DISTINCT {looked_up} FROM "{source}" r WHERE NOT r._x')]
        rates = [(key, rate) for key in keys if key is not None for rate in rate_of(key)]
        self._table(f"{name}-rates", {"_key": pa.binary(), "rate": pa.int64()}, rates)
        columns = [*self.columns[source], "rate"]
        kept = "true" if body.get("type") == "left" else "r._x OR v._key IS NOT NULL"
        self._like(name, source)
        self._select(
            name,
            columns,
            f'SELECT r.*, v.rate AS rate FROM "{source}" r LEFT JOIN "{name}-rates" v '
            f"ON v._key = {looked_up} AND NOT r._x WHERE {kept} ORDER BY r._n",
        )

    # Totals

    def _aggregate(self, name: str, body: Part) -> None:
        source = body["from"]
        key_column = self.keys[source]  # None where no column has the key
        groups = split_list(body["key"]) if "key" in body else [key_column] if key_column else []
        totals = split_list(body["aggregates"])
        placed = self._placed_by(source)
        order = _quoted(groups) or "_k"
        own_key = "key" not in body or (len(groups) == 1 and groups[0] == key_column)
        grouped = "_k IS NOT NULL" if own_key else f'"{placed}" IS NOT NULL'
        self.sql.execute(
            f'CREATE TABLE "{name}-rows" AS SELECT *, dense_rank() OVER (ORDER BY {order}) AS _g '
            f'FROM "{source}" WHERE NOT _x AND {grouped} AND {self.edited.during(name)}'
        )
        rows = self.rows(f'SELECT _n, _s, _t, _e, _g FROM "{name}-rows" ORDER BY _n')
        emissions = self._emissions(name, body, rows)
        self._emit(name, emissions)
        names = [entry.rpartition(" AS ")[2] for entry in totals]
        spans = []
        if "window" in body:
            spans = [
                "make_timestamptz(_w * 1000) AS window_start",
                "make_timestamptz(_w_end * 1000) AS window_end",
            ]
        columns = [*groups, *(("window_start", "window_end") if spans else ()), *names]
        firsts = [f'any_value("{column}") AS "{column}"' for column in groups]
        inner = (
            f"SELECT {', '.join([*firsts, *spans, *totals])}, _em AS _n, _es AS _s, any_value(_t) AS _t, "
            f"any_value(_k) AS _own, _time AS _e FROM "
            f'"{name}-emissions" JOIN "{name}-members" USING (_em) JOIN "{name}-rows" USING (_n) '
            "GROUP BY _em, _es, _w, _w_end, _time"
        )
        key = "_own" if own_key else _composed_key(groups)
        self._select(
            name,
            columns,
            f"SELECT {_quoted(columns)}, _n, _s, _t, {key} AS _k, _e, false AS _x, "
            f"false AS _m FROM ({inner}) ORDER BY _n",
        )
        self._note_overflow(name, totals)
        self.keys[name] = key_column if own_key else None
        if not self.case.whole_sends and (body.get("emit") == "onUpdate" or "window" not in body):
            self.newest_of[name] = tuple(columns[: len(groups) + len(spans)])

    def _note_overflow(self, name: str, totals: Sequence[str]) -> None:
        """Whether sums of whole numbers may not fit: which records are then bad depends on batches."""
        for text in totals:
            summed = re.match(r"sum\((\w+)\)", text)
            if summed:
                value = f'CAST("{summed[1]}" AS DOUBLE)'
                finite = f"NOT isnan({value}) AND NOT isinf({value})"
                most_kind = f'sum(abs({value})), any_value(typeof("{summed[1]}"))'
                ((most, kind),) = self.rows(f'SELECT {most_kind} FROM "{name}-rows" WHERE {finite}')
                bound = _MOST_DECIMAL if kind == "DECIMAL(38,2)" else _MOST_WHOLE
                self.expected.may_overflow |= most is not None and most >= bound

    def _placed_by(self, source: str) -> str | None:
        """The column that chose the task of rows."""
        while source in self.operators:
            kind, body = self.operators[source]
            if kind == "partitionBy":
                return str(body["key"])
            if kind == "aggregate":
                return self._placed_by(body["from"])
            source = sources_of(body)[0]
        return self.keys[source]

    def _emissions(self, name: str, body: Part, rows: list[tuple[int, int, int, int, int]]) -> Emissions:
        source = body["from"]
        (window,) = (body.get("window") or {"": {}}).items()
        kind, says = window
        lateness = milliseconds(body.get("allowedLateness", "0s"))
        updates = body.get("emit", "onWatermark" if kind else "onUpdate") == "onUpdate"
        reached = self.watermarks.reader(source)
        if kind == "session":
            emissions = sessions_of(
                rows, reached, milliseconds(says["gap"]), lateness, updates, self.last_step
            )
        else:
            size = milliseconds(says.get("size", "0s"))
            advance = milliseconds(says.get("advance", says.get("size", "0s")))
            emissions = windows_of(rows, reached, (size, advance), lateness, updates, self.last_step)
        self.expected.late += [(name, time) for time in emissions.late]
        if emissions.late and not self.case.whole_sends:
            raise UnjudgedError("rows are late, and batches decide which")
        if emissions.open:
            lowest = lowest_of([reached(task, self.last_step) for task, _ in emissions.open])
            first_end = min(end for _, end in emissions.open)
            self.expected.open.append((name, len(emissions.open), first_end, lowest))
        return emissions

    def _emit(self, name: str, emissions: Emissions) -> None:
        numbers = {
            "_em": pa.int64(),
            "_es": pa.int64(),
            "_w": pa.int64(),
            "_w_end": pa.int64(),
            "_time": pa.int64(),
        }
        self._table(f"{name}-emissions", numbers, emissions.rows())
        self._table(f"{name}-members", {"_em": pa.int64(), "_n": pa.int64()}, emissions.members())

    # Joins

    def _join(self, name: str, body: Part) -> None:
        left, right = body["from"]
        kind, within = body.get("type", "inner"), milliseconds(body["within"])
        by_arrival = body.get("time") == "arrival"
        for side, source in (("left", left), ("right", right)):
            self._joined_rows(f"{name}-{side}", name, source, by_arrival=by_arrival)
        entries = [_sides(entry) for entry in split_list(body["select"])]
        names = [entry.rpartition(" AS ")[2] for entry in entries]
        where = f"AND ({_sides(body['where'])})" if "where" in body else ""
        at = "_a" if by_arrival else "_e"
        near = f'"left"._k = "right"._k AND abs("left".{at} - "right".{at}) <= {within} {where}'
        both = f'"{name}-left" AS "left" {{}} JOIN "{name}-right" AS "right" ON {near}'
        pairs = (
            f"SELECT {', '.join(entries)}, row_number() OVER () AS _n, "
            "{} AS _s, "
            'coalesce("left"._t, "right"._t) AS _t, coalesce("left"._k, "right"._k) AS _k, '
            'greatest("left"._e, "right"._e) AS _e, false AS _x, '
        )
        later = 'greatest("left"._s, "right"._s)'
        queries = [f"{pairs.format(later)} false AS _m FROM {both.format('INNER')}"]
        for side, other, outer in (("left", "right", "LEFT"), ("right", "left", "RIGHT")):
            if kind in {side, "full"} and by_arrival:
                waits = "false" if self.case.is_batch else f'"{side}"._k IS NOT NULL'
                queries.append(
                    f"{pairs.format(self.last_step)} {waits} AS _m FROM {both.format(outer)} "
                    f'WHERE "{other}"._n IS NULL'
                )
            elif kind in {side, "full"}:
                step, waits = self._step_unmatched(self._reached_table(name), side, within)
                queries.append(
                    f"{pairs.format(step)} {waits} AS _m FROM {both.format(outer)} "
                    f'JOIN "{name}-reached" w ON w._task = "{side}"._t AND w._step = {self.last_step} '
                    f'WHERE "{other}"._n IS NULL AND ("{side}"._k IS NULL OR w._w > "{side}"._e + {within})'
                )
        self._select(name, names, " UNION ALL ".join(queries))
        self.keys[name] = next((n for n in names if f'"left"."{self.keys[left]}" AS {n}' in entries), None)

    def _arrival(self, step: int) -> int:
        """When what comes in a step arrives: only `Advance` takes longer than such joins tell apart."""
        return sum(milliseconds(one.by) for one in self.case.steps[:step] if isinstance(one, Advance))

    def _reached_table(self, name: str) -> str:
        table = f"{name}-reached"
        if not self.rows(f"SELECT 1 FROM duckdb_tables() WHERE table_name = '{table}'"):
            reached = self.watermarks.reader(name, of_inputs=True)
            places = itertools.product(range(self.case.tasks), range(self.last_step + 1))
            times = [(task, step, reached(task, step)) for task, step in places]
            rows = [(task, step, -ENDED if at is None else at) for task, step, at in times]
            self._table(table, {"_task": pa.int64(), "_step": pa.int64(), "_w": pa.int64()}, rows)
        return table

    def _step_unmatched(self, reached: str, side: str, within: int) -> tuple[str, str]:
        """The step by which a row without a partner is out, and whether it may be missing yet.

        It goes out between one and two such spans behind its time; of two steps an edit may come between.
        """
        step = (
            f'greatest("{side}"._s, coalesce((SELECT min(p._step) FROM "{reached}" p '
            f'WHERE p._task = "{side}"._t AND p._w {{}} "{side}"._e + {{}}), {self.last_step}))'
        )
        surely, perhaps = step.format(">=", 2 * within), step.format(">", within)
        waits = f'w._w < "{side}"._e + {2 * within}'
        if len(self.edited.by_edit) > 1:
            waits = f"({waits} OR {perhaps} < {surely})"
        has_key = f'"{side}"._k IS NOT NULL'
        return f'CASE WHEN {has_key} THEN {surely} ELSE "{side}"._s END', f"{has_key} AND {waits}"

    def _joined_rows(self, table: str, name: str, source: str, *, by_arrival: bool) -> None:
        """The rows of a side: by arrival with its time, by event time those that do not come too late."""
        if by_arrival:
            arrivals = [(step, self._arrival(step)) for step in range(self.last_step + 1)]
            self._table(f"{table}-arrivals", {"_s": pa.int64(), "_a": pa.int64()}, arrivals)
            self.sql.execute(
                f'CREATE TABLE "{table}" AS SELECT * FROM "{source}" JOIN "{table}-arrivals" USING (_s) '
                "WHERE NOT _x"
            )
            return
        reached = self.watermarks.reader(name, of_inputs=True)
        late = []
        for number, step, task, time in self.rows(
            f'SELECT _n, _s, _t, _e FROM "{source}" WHERE NOT _x ORDER BY _n'
        ):
            closed = reached(task, step - 1)
            if closed is not None and time < closed:
                late.append((number,))
                self.expected.late.append((name, time))
        if late and not self.case.whole_sends:
            raise UnjudgedError("rows are late, and batches decide which")
        self._table(f"{table}-late", {"_n": pa.int64()}, late)
        self.sql.execute(
            f'CREATE TABLE "{table}" AS SELECT * FROM "{source}" '
            f'WHERE NOT _x AND _n NOT IN (SELECT _n FROM "{table}-late")'
        )


def _in_order(bodies: Mapping[str, tuple[str, Part]]) -> list[str]:
    """The names of operators, each behind those that it reads and those that fill its table."""
    placed: list[str] = []

    def place(name: str) -> None:
        if name in placed or name not in bodies:
            return
        kind, body = bodies[name]
        filling = [
            one
            for one, (fills, of) in bodies.items()
            if fills == "sendToTable" and kind == "joinTable" and of["table"] == body["table"]
        ]
        for source in (*sources_of(body), *filling):
            place(source)
        placed.append(name)

    for name in bodies:
        place(name)
    return placed


def _expression(entry: str) -> str:
    """What an entry of a select list computes."""
    return entry.rpartition(" AS ")[0] or f'"{entry}"'


def _quoted(columns: Iterable[str]) -> str:
    return ", ".join(f'"{column}"' for column in columns)


def _of_row_or_table(entry: str, table: str) -> str:
    """An entry of a select list over rows and a table: a column of the table stands with its name."""
    if entry.startswith(f"{table}."):
        column, _, name = entry.removeprefix(f"{table}.").partition(" AS ")
        return f'v."{column}" AS "{name}"'
    return f'r."{entry}"'


def _sides(text: str) -> str:
    return re.sub(r"\b(left|right)\.(\w+)", r'"\1"."\2"', text)


def _headers(own: Sequence[Header | Part] | None) -> tuple[Header, ...]:
    """The headers of a record, as a map, in pairs, or a list of them has them."""
    return tuple(one if isinstance(one, tuple) else (one["name"], one["value"]) for one in own or ())


def _text_key(column: str) -> str:
    quoted = column if column.startswith("r.") else f'"{column}"'
    return f"encode(CAST({quoted} AS VARCHAR))"


def _composed_key(groups: Sequence[str]) -> str:
    """The JSON object of the columns, without those that are null."""
    entries = [
        f"""CASE WHEN "{c}" IS NOT NULL THEN '"{c}":' || CAST(to_json("{c}") AS VARCHAR) END"""
        for c in groups
    ]
    return f"encode('{{' || concat_ws(',', {', '.join(entries)}) || '}}')"
