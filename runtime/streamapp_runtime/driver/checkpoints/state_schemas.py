"""The schemas of the rows of an app's stores: kept beside the checkpoints, and compared at a start.

Bytes of a store are read by the schema that the app has today. Read by another than they were written with,
they are an error or, worse, a wrong answer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamapp.author.state_meaning import (
    changed_meanings,
    state_changed,
    state_declarations,
    state_meanings,
)
from streamapp.spec.problem import Problem, short
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.checkpoint_entries import STATE_SCHEMAS
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.checkpoints.state_reset import StateReset


@dataclass(frozen=True, slots=True)
class StateSchema:
    """The schema of the rows of one store: a hash of all that matters, and the declaration behind it."""

    schema: str
    declaration: str = ""
    meaning: Mapping[str, str] = field(default_factory=dict)  # what the resource says of it, by aspect

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> "StateSchema":
        """The schema in a document; those of before had no meaning."""
        meaning = {str(aspect): str(text) for aspect, text in fields.get("meaning", {}).items()}
        return cls(str(fields["schema"]), str(fields["declaration"]), meaning)

    def fields(self) -> dict[str, object]:
        """The schema in a document."""
        return {"schema": self.schema, "declaration": self.declaration, "meaning": dict(self.meaning)}


def stored_changes(app: StreamApp, values: Mapping[bytes, bytes], stream: str) -> tuple[Problem, ...]:
    """The edits that the state in a checkpoint stream refuses, as far as the resource says them."""
    if StateReset.of_run(app).due(values, stream):
        return ()
    recorded = STATE_SCHEMAS.read(values, stream, _parse) or {}
    return tuple(_changed_meanings(app, recorded))


def take_state_schemas(
    app: StreamApp, ledger: CheckpointStream, schemas: Mapping[str, str]
) -> tuple[str, ...]:
    """Record the schema of each store, by its name. Returns the stores that the app has left behind.

    AppRefusedError where a store was written by another schema; nothing is written then.
    """
    recorded = STATE_SCHEMAS.read(ledger.entries, ledger.stream, _parse) or {}
    today = _schemas_today(app, schemas)
    if problems := _changes(app, recorded, today):
        raise AppRefusedError(problems)
    if any(recorded.get(name) != schema for name, schema in today.items()):
        ledger.record(STATE_SCHEMAS, _document({**recorded, **today}))
    return tuple(sorted(recorded.keys() - today.keys()))


def schema_changes(
    app: StreamApp, values: Mapping[bytes, bytes], stream: str, schemas: Mapping[str, str]
) -> list[Problem]:
    """The changes that `take_state_schemas` would refuse, by the values of the checkpoint stream."""
    return _changes(app, STATE_SCHEMAS.read(values, stream, _parse) or {}, _schemas_today(app, schemas))


def _schemas_today(app: StreamApp, schemas: Mapping[str, str]) -> dict[str, StateSchema]:
    declarations, meanings = state_declarations(app), state_meanings(app)
    return {
        name: StateSchema(schema, declarations.get(whole, ""), meanings.get(whole, {}))
        for name, schema in schemas.items()
        for whole in [name.partition("/")[0]]
    }


def _changes(
    app: StreamApp, recorded: Mapping[str, StateSchema], today: Mapping[str, StateSchema]
) -> list[Problem]:
    problems = list(_changed_meanings(app, recorded))
    refused_paths = {problem.path for problem in problems}
    changed_schemas = _changed_schemas(app, recorded, today)
    return problems + [problem for problem in changed_schemas if problem.path not in refused_paths]


def _changed_meanings(app: StreamApp, recorded: Mapping[str, StateSchema]) -> Iterator[Problem]:
    return changed_meanings(app, {name: schema.meaning for name, schema in recorded.items()})


def _changed_schemas(
    app: StreamApp, recorded: Mapping[str, StateSchema], today: Mapping[str, StateSchema]
) -> Iterator[Problem]:
    for name, now in today.items():
        before = recorded.get(name)
        if before is None or before.schema == now.schema:
            continue
        change = "the columns that reach it have other names or types than then"
        if before.declaration != now.declaration:
            change = f"it was {short(before.declaration, 200)} and is {short(now.declaration, 200)}"
        yield state_changed(app, name, change)


def _parse(document: Mapping[str, Any]) -> dict[str, StateSchema]:
    return {str(name): StateSchema.parse(fields) for name, fields in document["stores"].items()}


def _document(schemas: Mapping[str, StateSchema]) -> dict[str, object]:
    return {"stores": {name: schema.fields() for name, schema in sorted(schemas.items())}}
