"""`streamapp registry`: the schemas of a registry as columns of a resource."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamapp.cli.output_option import JSON, output_option
from streamapp.cli.secrets_option import secrets_option
from streamapp.spec.problem import nearest
from streamapp_runtime.cli.log_access import cli_errors

if TYPE_CHECKING:
    from streamapp.spec.resource.app import StreamApp
    from streamapp.spec.resource.streams import Stream
    from streamapp_runtime.registered_schema import RegisteredSchema
    from streamapp_runtime.systems.kafka.schema_registry.registry_schemas import RegistrySchemas

_URLS = ("http://", "https://")
_TIMEOUT_S = 10.0
_app_option = click.option("--app", "name", metavar="NAME", help="Which app, where the file has several.")


@click.group(short_help="Compare schemas of a registry with columns.")
def registry() -> None:
    """Print the columns of registered schemas, and compare these with the columns of an app.

    The columns of a stream stand in the resource, so that an app is planned without a registry, and a new
    schema changes nothing that runs. Verbs exit with 1 when something is refused, with 2 when they were used
    wrongly, with 3 when the registry does not answer.

    \b
    Examples:
      streamapp registry columns app.yaml views
      streamapp registry diff app.yaml
    """


@registry.command(short_help="Print the columns of a schema.")
@click.argument("source")
@click.argument("stream")
@click.option("--version", type=click.IntRange(1), help="That of the subject; the newest if left out.")
@secrets_option()
@_app_option
@output_option("text", JSON)
def columns(
    source: str, stream: str, version: int | None, secrets: Path | None, name: str | None, output: str
) -> None:
    """Print the column list of the schema of STREAM, as `columns` of the stream in a resource takes it.

    SOURCE is an app with the stream, whose columns may be missing there; or the URL of a registry, and STREAM
    the name of a subject. Of a stream of format debezium they are those of the table. Fields that no column
    can hold, such as a union of text and number, are named on standard error; records are read without them.

    \b
    Examples:
      streamapp registry columns app.yaml views --secrets ./kafka-client
      streamapp registry columns http://localhost:8081 views-value --version 2
    """
    from streamapp.cli.app_sources import one_app

    with cli_errors():
        from streamapp_runtime.driver.start.writer_schemas import subject_of
        from streamapp_runtime.formats.arrow_types import column_list
        from streamapp_runtime.formats.schema_difference import schema_columns, stream_columns

        if source.startswith(_URLS):
            declared, schemas, subject = None, _schemas_at(source, secrets), stream
        else:
            app = one_app(source, name)
            declared = _stream_of(app, stream)
            schemas, subject = _schemas_of(app, declared, secrets), subject_of(declared)
        version = version or _versions(schemas, subject)[-1]
        schema = schemas.of_version((subject, version))
        registered_columns = stream_columns(schema, declared) if declared else schema_columns(schema)
        text = column_list(registered_columns.columns)
    for path, reason in registered_columns.left_out.items():
        click.echo(f"left out: {path}: {reason}", err=True)
    facts = {
        "subject": subject,
        "version": version,
        "columns": text,
        "leftOut": dict(registered_columns.left_out),
    }
    click.echo(json.dumps(facts, indent=2) if output == JSON else text)


@registry.command(short_help="Compare an app's columns with the registered schemas.")
@click.argument("source", metavar="APP")
@click.argument("streams", nargs=-1, metavar="[STREAM]...")
@secrets_option()
@_app_option
@output_option("text", JSON)
def diff(source: str, streams: tuple[str, ...], secrets: Path | None, name: str | None, output: str) -> None:
    """Compare the columns of streams of APP that have a registry with the schemas of their subjects.

    Those of keys are compared with the subjects of keys.

    Of the newest schema fields without a column, columns without a field and other types are listed. Every
    version of the subject is checked: exits with 1 where records of one cannot be read as the columns.

    \b
    Example:
      streamapp registry diff app.yaml views
    """
    from streamapp.cli.app_sources import one_app

    with cli_errors():
        from streamapp_runtime.driver.start.writer_schemas import key_subject_of, subject_of
        from streamapp_runtime.formats.schema_difference import key_difference, schema_difference

        app = one_app(source, name)
        chosen = [_stream_of(app, stream) for stream in streams] or _registered_streams(app)
        differences = []
        for stream in chosen:
            schemas = _schemas_of(app, stream, secrets)
            if stream.registry:
                subject = subject_of(stream)
                differences.append(schema_difference(stream, subject, _registered(schemas, subject)))
            if stream.has_registered_keys:
                subject = key_subject_of(stream)
                differences.append(key_difference(stream, subject, _registered(schemas, subject)))
    if output == JSON:
        click.echo(json.dumps([asdict(difference) for difference in differences], indent=2))
    else:
        for difference in differences:
            click.echo("\n".join(difference.lines()))
    if any(difference.refused for difference in differences):
        sys.exit(1)


def _stream_of(app: "StreamApp", name: str) -> "Stream":
    streams = {stream.name: stream for stream in _registered_streams(app)}
    if name not in streams:
        message = f'no stream of {app.metadata.name} that has registry: true is named "{name}"'
        raise click.ClickException(message + nearest(name, list(streams)))
    return streams[name]


def _registered_streams(app: "StreamApp") -> "list[Stream]":
    streams = [stream for stream in app.spec.streams if stream.needs_registry]
    if not streams:
        raise click.ClickException(f"no stream of {app.metadata.name} has registry: true")
    return streams


def _schemas_of(app: "StreamApp", stream: "Stream", secrets: Path | None) -> "RegistrySchemas":
    from streamapp_runtime.driver.start.app_storage import stream_registry
    from streamapp_runtime.systems.connection import open_registry

    connection = stream_registry(app, stream, secrets)
    if connection is None:
        raise click.ClickException(f'the system "{stream.system}" has no schemaRegistry')
    return open_registry(connection)


def _schemas_at(url: str, secrets: Path | None) -> "RegistrySchemas":
    from streamapp_runtime.systems.connection import RegistryConnection, open_registry

    folder = None if secrets is None else str(secrets.resolve())
    return open_registry(RegistryConnection((url.rstrip("/"),), _TIMEOUT_S, {}, folder))


def _registered(schemas: "RegistrySchemas", subject: str) -> "dict[int, RegisteredSchema]":
    return {number: schemas.of_version((subject, number)) for number in _versions(schemas, subject)}


def _versions(schemas: "RegistrySchemas", subject: str) -> list[int]:
    versions = schemas.subjects.versions(subject)
    if not versions:
        raise click.ClickException(f'the registry has no subject "{subject}"')
    return versions
