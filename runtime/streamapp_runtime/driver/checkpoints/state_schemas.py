"""How the rows of an app's stores are read: kept beside the checkpoints, and compared at a start.

Bytes of a store are read by the schema that the app has today. Read by another than they were written with,
they are an error or, worse, a wrong answer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from streamapp.author.problems import field_path
from streamapp.spec.problem import Problem, short
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data
from streamapp_runtime.checkpoint_entries import STATE_SCHEMAS
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream

_MENDS = (
    "take the edit back, or give it another name so that its state begins anew, "
    "or raise resetNonce, which gives all state of the app up"
)


@dataclass(frozen=True, slots=True)
class StateSchema:
    """How the rows of one store are read: a hash of all that matters, and the declaration behind it."""

    schema: str
    declaration: str = ""

    @classmethod
    def parse(cls, fields: Mapping[str, Any]) -> "StateSchema":
        """The schema in a document."""
        return cls(str(fields["schema"]), str(fields["declaration"]))


def take_state_schemas(
    app: StreamApp, ledger: CheckpointStream, schemas: Mapping[str, str]
) -> tuple[str, ...]:
    """Record the schema of each store, by its name. Returns the stores that the app has left behind.

    AppRefusedError where a store was written by another schema; nothing is written then.
    """
    recorded = STATE_SCHEMAS.read(ledger.entries, ledger.stream, _parse) or {}
    declarations = _declarations(app)
    today = {
        name: StateSchema(schema, declarations.get(name.partition("/")[0], ""))
        for name, schema in schemas.items()
    }
    if problems := list(_changed(app, recorded, today)):
        raise AppRefusedError(problems)
    if any(recorded.get(name) != schema for name, schema in today.items()):
        ledger.record(STATE_SCHEMAS, _document({**recorded, **today}))
    return tuple(sorted(recorded.keys() - today.keys()))


def _changed(
    app: StreamApp, recorded: Mapping[str, StateSchema], today: Mapping[str, StateSchema]
) -> Iterator[Problem]:
    for name, now in today.items():
        before = recorded.get(name)
        if before is None or before.schema == now.schema:
            continue
        what = "the columns that reach it have other names or types than then"
        if before.declaration != now.declaration:
            what = f"it was {short(before.declaration, 200)} and is {short(now.declaration, 200)}"
        message = f"the state of {name} was written with another meaning: {what}; {_MENDS}"
        yield Problem(0, 0, _path(app, name), message, Reason.STATE_CHANGED)


def _path(app: StreamApp, name: str) -> str:
    tables = [table.name for table in app.spec.tables]
    return f"spec.tables[{tables.index(name)}]" if name in tables else field_path(app, name)


def _declarations(app: StreamApp) -> dict[str, str]:
    """What the resource says of each table and operator, on one line each."""
    spec = as_data(app)["spec"]
    return {
        declared["name"]: ", ".join(
            f"{field}: {value}" for field, value in declared.items() if field != "name"
        )
        for declared in [*spec.get("operators", ()), *spec.get("tables", ())]
    }


def _parse(document: Mapping[str, Any]) -> dict[str, StateSchema]:
    return {str(name): StateSchema.parse(fields) for name, fields in document["stores"].items()}


def _document(schemas: Mapping[str, StateSchema]) -> dict[str, object]:
    stores = {
        name: {"schema": schema.schema, "declaration": schema.declaration}
        for name, schema in sorted(schemas.items())
    }
    return {"stores": stores}
