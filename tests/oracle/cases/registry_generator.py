"""Streams of random apps under a schema registry: their schemas, and how the resource names these."""

from collections.abc import Mapping, Sequence
from typing import Final

from tests.oracle.cases.app_draft import KEY_COLUMN, AppDraft, Part
from tests.oracle.cases.schema_texts import ADDED, SchemaVersion, fitting_forms, lone_schema_text, schema_text

SYSTEM: Final[Part] = {
    "kafka": {"bootstrapServers": "kafka:9092", "schemaRegistry": {"url": "http://127.0.0.1:1"}}
}
"""What a system has to be for its streams to be under a registry; the kit asks neither address."""
_FIRST_ID: Final = 1_000


def input_form(draft: AppDraft, stream: str, columns: Mapping[str, str]) -> Part:
    """The format of an input, whose records are written by one schema or by several."""
    form = draft.chance.choice(fitting_forms(columns.values()))
    draft.schemas[stream] = _versions(draft, form, columns)
    return {"format": form, "registry": True}


def output_form(draft: AppDraft, stream: str, columns: Mapping[str, str]) -> Part:
    """The format of an output, and which schema it is written by."""
    chance = draft.chance
    form = chance.choice(fitting_forms(columns.values()))
    text = schema_text(form, columns)
    made: Part = {"format": form, "registry": True}
    registers = (
        form != "protobuf" and chance.random() < 0.3
    )  # the product's schema would be a text to compile
    if form == "avro" and chance.random() < 0.5:
        made["avroSchema"] = text
    elif registers:
        return {**made, "writerSchema": {"autoRegister": True}}
    draft.schemas[stream] = [SchemaVersion(text, columns)]
    if "avroSchema" in made:
        subject = chance.choice(("topic", "record", "topicRecord"))
        made["writerSchema"] = {"subject": subject, "autoRegister": registers}
    elif chance.random() < 0.3:
        made["writerSchema"] = {"id": _schema_id(draft, text)}
    return made


def output_key_form(draft: AppDraft, stream: Part, kind: str) -> Part:
    """The `metadata` of an output whose keys are written by a schema, in the values too or beside them."""
    chance, column = draft.chance, stream["key"]
    form = chance.choice(fitting_forms((kind,)))
    text = lone_schema_text(form, kind) if form != "protobuf" and chance.random() < 0.4 else None
    text = text or schema_text(form, {column: kind})
    made: Part = {"keyFormat": form}
    if not stream.get("registry") and chance.random() < 0.4:
        made["keyColumns"] = f"{column} {kind}"
    draft.key_schemas[stream["name"]] = text
    if form == "avro" and chance.random() < 0.4:
        made |= {"keyAvroSchema": text, "keyWriterSchema": {"autoRegister": chance.random() < 0.5}}
    elif chance.random() < 0.4:
        made["keyWriterSchema"] = {"id": _schema_id(draft, text)}
    return made


def _schema_id(draft: AppDraft, text: str) -> int:
    """The id that a resource names: a registry has one for each schema."""
    return draft.schema_ids.setdefault(text, _FIRST_ID + len(draft.schema_ids))


def _versions(draft: AppDraft, form: str, columns: Mapping[str, str]) -> list[SchemaVersion]:
    """The schema of all columns, and perhaps a later one."""
    versions = [SchemaVersion(schema_text(form, columns), columns)]
    free = [column for column in columns if column not in {"id", KEY_COLUMN, "ts"}]
    if draft.chance.random() < 0.6:
        versions.append(_later_version(draft, form, columns, free))
    return versions


def _later_version(
    draft: AppDraft, form: str, columns: Mapping[str, str], free: Sequence[str]
) -> SchemaVersion:
    """Fields in another order, perhaps one less, one more, and an `int` where the column is BIGINT."""
    chance = draft.chance
    kinds = dict(chance.sample(tuple(columns.items()), len(columns)))
    if chance.random() < 0.5:
        del kinds[chance.choice(free)]
    if form != "json":
        narrow = [name for name in free if kinds.get(name) == "BIGINT"]
        kinds |= {name: "INT" for name in narrow if chance.random() < 0.6}
    added = {ADDED: "INT"} if chance.random() < 0.6 else {}
    return SchemaVersion(schema_text(form, added | kinds), kinds)
