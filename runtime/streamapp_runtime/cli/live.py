"""`--live`: what the systems of an app say of it today, asked from this machine. Nothing is written there."""

from contextlib import closing
from pathlib import Path

from streamapp.author.app_streams import declared_topics
from streamapp.author.names import checkpoint_stream
from streamapp.cli.live_lookup import LiveFacts, LookupRefusedError, SystemAccess
from streamapp.cli.unreachable import UnreachableError
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import LayoutUnreadableError
from streamapp_runtime.driver.checkpoints.stored_layout import stored_layout
from streamapp_runtime.driver.start.app_storage import connection_of
from streamapp_runtime.driver.start.live_world import made_counts
from streamapp_runtime.systems.connection import EmbeddedConnection, open_system
from streamapp_runtime.systems.embedded.lmdb_environment import LogUnreadableError
from streamapp_runtime.systems.stream_system import InvalidSettingsError, UnavailableError


def look(app: StreamApp, reached: SystemAccess) -> LiveFacts:
    """Counts of all streams, and the layout that lies with the app's state."""
    found = LiveFacts()
    for index, system in enumerate(app.spec.systems):
        try:
            found = _with(found, app, index, reached)
        except UnavailableError as error:
            raise UnreachableError(f'the system "{system.name}" cannot be asked: {error}') from None
        except (AppRefusedError, InvalidSettingsError, LayoutUnreadableError, LogUnreadableError) as error:
            raise LookupRefusedError(str(error)) from None
    return found


def _with(found: LiveFacts, app: StreamApp, index: int, reached: SystemAccess) -> LiveFacts:
    """What is known with this system too; what the app makes is in its first one."""
    asked = app.spec.systems[index]
    connection = connection_of(asked, index, reached.data, reached.secrets)
    topics = declared_topics(app, asked.name)
    if isinstance(connection, EmbeddedConnection) and not Path(connection.folder, "data.mdb").exists():
        return LiveFacts({**found.counts, **dict.fromkeys(topics)}, found.layout, found.run)
    with closing(open_system(connection)) as system:
        counts = {**found.counts, **{name: system.partitions(topic) for name, topic in topics.items()}}
        if index:
            return LiveFacts(counts, found.layout, found.run)
        return LiveFacts(
            counts | made_counts(app, system), *stored_layout(system, checkpoint_stream(app.application_id))
        )
