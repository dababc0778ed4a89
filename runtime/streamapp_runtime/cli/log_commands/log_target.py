"""The target of `streamapp log`: the folder of an embedded log, an app, or the brokers of a cluster."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from streamapp.cli.secrets_option import secrets_option
from streamapp.spec.problem import nearest
from streamapp.spec.value_types.partitioner_names import PartitionerName
from streamapp_runtime.cli.log_access import open_log

if TYPE_CHECKING:
    from streamapp.spec.resource.app import StreamApp
    from streamapp.spec.resource.streams import Stream
    from streamapp_runtime.cli.record_input.line_keys import LineKeys
    from streamapp_runtime.cli.record_input.row_lines import RowLines
    from streamapp_runtime.formats.decoded_rows import RowDecoder
    from streamapp_runtime.systems.connection import Connection
    from streamapp_runtime.systems.kafka.schema_registry.registry_schemas import RegistrySchemas
    from streamapp_runtime.systems.stream_system import StreamSystem

KAFKA_PREFIX = "kafka://"
_APPS = (".json", ".py", ".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class TargetNames:
    """The names of streams that the user may say; any where no app was named."""

    topics: Mapping[str, str] = field(default_factory=dict)  # of an app: stream -> its name in the system
    prefix: str = ""  # of an app: what the names of the streams that it makes begin with
    keys: Mapping[str, str] = field(default_factory=dict)  # of an app: stream -> the column that is its key
    partitioners: Mapping[str, PartitionerName] = field(default_factory=dict)  # of an app, by stream

    def in_system(self, stream: str) -> str:
        """The name in the system."""
        if self.prefix and stream not in self.topics and not stream.startswith(self.prefix):
            raise click.ClickException(
                f'the app has no stream named "{stream}"{nearest(stream, list(self.topics))}'
            )
        return self.topics.get(stream, stream)


@dataclass(frozen=True, slots=True)
class TargetStreams:
    """The streams of a target, by the names that the user knows."""

    system: "StreamSystem"
    names: TargetNames = TargetNames()
    topics: Collection[str] = ()  # of an app: those that it declares in this system

    def name_in_system(self, stream: str) -> str:
        """The name in the system."""
        return self.names.in_system(stream)

    def app_stream_names(self) -> Collection[str] | None:
        """The streams of an app, those that it makes too; all where no app was named."""
        prefix = self.names.prefix
        if not prefix:
            return None
        own_streams = {name for name in self.system.streams() if name.startswith(prefix)}
        return own_streams | set(self.topics)


@dataclass(frozen=True)
class LogTarget:
    """The target of a log command, as the command line names it."""

    log: str
    secrets: Path | None
    app: str | None

    @cached_property
    def _parsed_app(self) -> "StreamApp":
        from streamapp.cli.app_sources import one_app

        return one_app(self.log, self.app)

    def names(self) -> TargetNames:
        """The names that it has, before anything is opened."""
        from streamapp.author.app_streams import declared_topics
        from streamapp.author.names import stream_prefix

        if not is_app_source(self.log):
            return TargetNames()
        app = self._parsed_app
        decoded = {stream.name: stream.key for stream in app.spec.streams if stream.key_is_decoded}
        named = {stream.name: stream.key_in_values for stream in app.spec.streams} | decoded
        keys = {stream: key for stream, key in named.items() if key is not None}
        partitioners = {stream.name: stream.partitioner for stream in app.spec.streams}
        return TargetNames(declared_topics(app), stream_prefix(app.application_id), keys, partitioners)

    def row_decoder(self, stream: str) -> "RowDecoder":
        """The decoder of a stream of an app."""
        if not is_app_source(self.log):
            raise click.UsageError("--rows goes with an app, which says the format and the columns")
        return row_decoder(self._parsed_app, stream, self.secrets, lambda text: click.echo(text, err=True))

    def line_keys(self, stream: str) -> "LineKeys | None":
        """The keys of lines of a stream of an app, where these are no JSON objects of its columns."""
        from streamapp_runtime.cli.record_input.line_keys import line_keys

        return line_keys(self._parsed_app, stream) if is_app_source(self.log) else None

    def stream_of_rows(self, stream: str) -> "Stream | None":
        """The stream of an app where lines are rows that are encoded; refused where it has no columns."""
        streams = self._parsed_app.spec.streams if is_app_source(self.log) else ()
        declared = next((one for one in streams if one.name == stream and one.takes_rows), None)
        if declared is not None and declared.columns is None:
            raise click.ClickException(f'"{stream}" declares no columns of lines: write columns for it')
        return declared

    def row_lines(self, stream: "Stream") -> "RowLines":
        """The lines of a stream as rows; its registry is asked for the schemas, where it has one."""
        from streamapp_runtime.cli.record_input.row_lines import RowLines

        schemas = _schemas_of(self._parsed_app, stream, self.secrets) if stream.needs_registry else None
        return RowLines.of(stream, schemas)

    @property
    def systems(self) -> Sequence[str | None]:
        """The systems of streams of the target by name; one without a name where no app was named."""
        if not is_app_source(self.log):
            return [None]
        return [system.name for system in self._parsed_app.spec.systems if not system.has_tables]

    def label(self, topic: str, system_name: str | None) -> str:
        """The name of a topic in a list of all systems: one outside the home says its system."""
        from streamapp_runtime.systems.connection import StreamLocation

        if system_name is None:
            return topic
        return StreamLocation(system_name, topic).label(self._parsed_app.spec.home.name)

    def system_of(self, stream: str) -> str | None:
        """The system of a stream of an app: that of those it makes is its home."""
        if not is_app_source(self.log):
            return None
        spec = self._parsed_app.spec
        declared = {one.name: one.system for one in spec.streams}
        return declared.get(stream, spec.home.name)

    @contextmanager
    def streams(self, system_name: str | None, make: bool = False) -> Iterator[TargetStreams]:
        """The streams of one of its systems; an embedded log has to be there unless it may be made."""
        from streamapp_runtime.systems.connection import KafkaConnection

        if self.log.startswith(KAFKA_PREFIX):
            secrets = None if self.secrets is None else str(self.secrets.resolve())
            with _connected(
                KafkaConnection(self.log.removeprefix(KAFKA_PREFIX), {}, secrets), make
            ) as system:
                yield TargetStreams(system)
        elif is_app_source(self.log):
            with self._app_streams(system_name, make) as app_streams:
                yield app_streams
        else:
            with open_log(Path(self.log), make) as system:
                yield TargetStreams(system)

    @contextmanager
    def _app_streams(self, system_name: str | None, make: bool) -> Iterator[TargetStreams]:
        from streamapp.author.app_streams import declared_topics
        from streamapp_runtime.driver.start.app_storage import connection_of

        systems = {system.name: (system, index) for index, system in enumerate(self._parsed_app.spec.systems)}
        named = systems[system_name or self._parsed_app.spec.home.name]
        if named[0].has_tables:
            tables = f'the streams of "{named[0].name}" are tables'
            raise click.UsageError(f"{tables}; look into them with the tools of {named[0].kind}")
        with _connected(connection_of(*named, None, self.secrets), make) as system:
            topics = declared_topics(self._parsed_app, named[0].name)
            yield TargetStreams(system, self.names(), topics.values())


def row_decoder(
    app: "StreamApp", name: str, secrets: Path | None, tell: Callable[[str], None]
) -> "RowDecoder":
    """The decoder of a stream's records; ValueError where the app does not say its columns."""
    from streamapp_runtime.formats.decoded_rows import RowDecoder

    stream = next((one for one in app.spec.streams if one.name == name), None)
    if stream is None or stream.columns is None:
        raise ValueError(f'the app says no columns of "{name}", which rows would have; leave --rows out')
    return RowDecoder.of(stream, _schemas_of(app, stream, secrets), tell)


def _schemas_of(app: "StreamApp", stream: "Stream", secrets: Path | None) -> "RegistrySchemas | None":
    """The schemas of the registry that a stream has; None where it has none."""
    from streamapp_runtime.driver.start.app_storage import stream_registry
    from streamapp_runtime.systems.connection import open_registry

    registry = stream_registry(app, stream, secrets)
    return open_registry(registry) if registry else None


def is_app_source(target: str) -> bool:
    """True if an argument names a file with apps, and not a folder or a cluster."""
    return Path(target).suffix in _APPS and not Path(target).is_dir()


def target_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a verb the argument LOG and what goes with it; it gets them as one `target`."""

    @wraps(command)
    def called(log: str, secrets: Path | None, name: str | None, **others: Any) -> Any:
        return command(target=LogTarget(log, secrets, name), **others)

    options: Callable[..., Any] = called
    for option in (
        click.option("--app", "name", metavar="NAME", help="Which app, where LOG is a source of several."),
        secrets_option(),
    ):
        options = option(options)
    return click.argument("log")(options)


@contextmanager
def _connected(connection: "Connection", make: bool) -> "Iterator[StreamSystem]":
    from streamapp_runtime.systems.connection import EmbeddedConnection, open_system

    if isinstance(connection, EmbeddedConnection):
        with open_log(Path(connection.folder), make) as log:
            yield log
    else:
        with closing(open_system(connection)) as system:
            yield system
