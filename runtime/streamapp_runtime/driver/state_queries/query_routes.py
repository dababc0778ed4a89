"""Answers requests for rows of the state, as JSON: `/state/` names the tables, `/state/TABLE` gives rows.

On loopback there is no login. Where other machines can ask, a request has to have the token of the app.
"""

import hmac
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from streamapp.protocol.message_names import NEW_SNAPSHOT
from streamapp.served_pages.page_safety import SAFETY_HEADERS
from streamapp.spec.problem import nearest, short
from streamapp_runtime.driver.loopback_requests import method_refusal, refusal_of
from streamapp_runtime.driver.state_queries.open_snapshots import SnapshotEndedError
from streamapp_runtime.driver.state_queries.query_result import entry_of_cursor, read_rows
from streamapp_runtime.driver.state_queries.state_lookup_request import (
    MOST_ENTRIES,
    MOST_KEYS,
    QueryRefusedError,
    StateLookup,
)
from streamapp_runtime.driver.state_queries.state_queries import (
    StateQueries,
    StateUnavailableError,
    UnknownTableError,
)

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

PREFIX: Final = "/state/"
DEFAULT_LIMIT: Final = 100
_PARAMETERS: Final = ("key", "prefix", "after", "limit", "snapshot")
_UNAUTHORIZED: Final = "401 Unauthorized"
_UNAVAILABLE: Final = "503 Service Unavailable"
_HEADERS: Final = {_UNAUTHORIZED: ("WWW-Authenticate", "Bearer"), _UNAVAILABLE: ("Retry-After", "1")}
"""What answers of a status have beside the headers of all."""
_STATUSES: Final[Mapping[type[Exception], str]] = {
    QueryRefusedError: "400 Bad Request",
    SnapshotEndedError: "410 Gone",
    StateUnavailableError: _UNAVAILABLE,
}
"""What becomes of a query that is not answered."""
_JSON: Final = "application/json; charset=utf-8"


@dataclass(frozen=True, slots=True)
class QueryRoutes:
    """The state of one run, as it is served."""

    queries: StateQueries
    audit: Callable[[str, Mapping[str, object]], None]  # of each query, in words
    token: str = field(default="", repr=False)  # that requests need; empty on loopback, where none do

    def respond(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Answer a request of a path that begins with /state."""
        status, fields = self._answer(environ)
        content = json.dumps(fields, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        headers = [("Content-Type", _JSON), ("Content-Length", str(len(content))), *SAFETY_HEADERS]
        if more := _HEADERS.get(status):
            headers.append(more)
        start_response(status, headers)
        return [content]

    def _answer(self, environ: "WSGIEnvironment") -> tuple[str, dict[str, Any]]:
        if refusal := self._refusal(environ):
            status, text = refusal
            return status, {"error": text.decode().strip()}
        # A path and a query come as the bytes that they are: keys need not be text.
        name = environ["PATH_INFO"].encode("latin-1").decode(errors="replace").removeprefix(PREFIX)
        try:
            if name in {"", "/state"}:
                return "200 OK", {"tables": sorted(self.queries.tables)}
            lookup = state_lookup(name, environ.get("QUERY_STRING", ""))
            result = read_rows(self.queries, lookup)
            if lookup.snapshot and not result.snapshot:
                self.queries.end_snapshot(lookup.snapshot)
        except UnknownTableError:
            nearby = nearest(name, sorted(self.queries.tables))
            return "404 Not Found", {
                "error": f'no table and no operator with state named "{short(name)}"{nearby}'
            }
        except (QueryRefusedError, SnapshotEndedError, StateUnavailableError) as error:
            return _STATUSES[type(error)], {"error": str(error)}
        self._note(lookup, len(result.rows), environ.get("REMOTE_ADDR", ""))
        return "200 OK", result.fields()

    def _refusal(self, environ: "WSGIEnvironment") -> tuple[str, bytes] | None:
        if not self.token:
            return refusal_of(environ)
        sent = environ.get("HTTP_AUTHORIZATION", "").encode("latin-1", "replace")
        if not hmac.compare_digest(sent, f"Bearer {self.token}".encode()):
            return _UNAUTHORIZED, b"send the token of the app as `Authorization: Bearer TOKEN`"
        return method_refusal(environ)

    def _note(self, lookup: StateLookup, rows: int, client: str) -> None:
        """Note who asked for how much of what; keys are data, and stay out."""
        asked = f"{len(lookup.keys)} keys" if lookup.keys else "a scan"
        facts = {"event": "stateQuery", "table": lookup.table, "keys": len(lookup.keys)}
        self.audit(
            f"state query of {lookup.table} from {client}: {asked}, {rows} rows",
            facts | {"rows": rows, "client": client},
        )


def state_lookup(table: str, query: str) -> StateLookup:
    """The lookup that the query of a URL asks for; QueryRefusedError where it cannot be asked."""
    values: dict[str, list[bytes]] = {}
    try:
        pairs = parse_qsl(query, keep_blank_values=True, encoding="latin-1", max_num_fields=MOST_KEYS + 4)
    except ValueError:
        raise QueryRefusedError(f"more than {MOST_KEYS} keys at once; ask for fewer") from None
    for name, value in pairs:
        if name not in _PARAMETERS:
            raise QueryRefusedError(f'no parameter "{short(name)}"{nearest(name, _PARAMETERS)}')
        values.setdefault(name, []).append(value.encode("latin-1"))
    keys = tuple(dict.fromkeys(values.pop("key", ())))
    if keys and values:
        raise QueryRefusedError(f'"key" and "{next(iter(values))}" exclude each other')
    if len(keys) > MOST_KEYS:
        raise QueryRefusedError(f"{len(keys)} keys at once; ask for at most {MOST_KEYS}")
    if repeated := [name for name, each in values.items() if len(each) > 1]:
        raise QueryRefusedError(f'"{repeated[0]}" is given twice')
    (limit,) = values.get("limit", [str(DEFAULT_LIMIT).encode()])
    if not limit.isdigit() or len(limit) > len(str(MOST_ENTRIES)) or not 1 <= int(limit) <= MOST_ENTRIES:
        raise QueryRefusedError(f'"limit" is a number from 1 to {MOST_ENTRIES:,}')
    (prefix,) = values.get("prefix", [b""])
    (after,) = values.get("after", [b""])
    last = entry_of_cursor(after.decode("latin-1")) if after else None
    (snapshot,) = values.get("snapshot", [b""])
    begins = snapshot == NEW_SNAPSHOT.encode()
    if begins and last is not None:
        raise QueryRefusedError(
            f'"after" goes with the snapshot of the answer before, not with a {NEW_SNAPSHOT} one'
        )
    name = token_urlsafe(12) if begins else snapshot.decode("latin-1")
    return StateLookup(table, keys, prefix, last, int(limit), name, begins)
