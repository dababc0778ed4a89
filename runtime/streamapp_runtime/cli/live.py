"""`--live`: what the systems of an app say of it today, asked from this machine. Nothing is written there."""

from contextlib import closing
from pathlib import Path

from streamapp.author.names import checkpoint_stream
from streamapp.author.streams import declared_topics
from streamapp.cli.away import AwayError
from streamapp.cli.looked import Looked, NoLookError, Reached
from streamapp.spec.app import StreamApp
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import LayoutUnreadableError
from streamapp_runtime.driver.checkpoints.stored_layout import stored_layout
from streamapp_runtime.driver.start.app_storage import connection_of
from streamapp_runtime.driver.start.live_world import made_counts
from streamapp_runtime.systems.connection import Embedded, SettingsUnfitError, open_system
from streamapp_runtime.systems.embedded.environment import LogUnreadableError
from streamapp_runtime.systems.system import UnavailableError


def look(app: StreamApp, reached: Reached) -> Looked:
    """Counts of all streams, and the layout that lies with the app's state."""
    found = Looked()
    for index, system in enumerate(app.spec.systems):
        try:
            found = _with(found, app, index, reached)
        except UnavailableError as error:
            raise AwayError(f'the system "{system.name}" cannot be asked: {error}') from None
        except (AppRefusedError, SettingsUnfitError, LayoutUnreadableError, LogUnreadableError) as error:
            raise NoLookError(str(error)) from None
    return found


def _with(found: Looked, app: StreamApp, index: int, reached: Reached) -> Looked:
    """What is known with this system too; what the app makes is in its first one."""
    asked = app.spec.systems[index]
    connection = connection_of(asked, index, reached.data, reached.secrets)
    topics = declared_topics(app, asked.name)
    if isinstance(connection, Embedded) and not Path(connection.folder, "data.mdb").exists():
        return Looked({**found.counts, **dict.fromkeys(topics)}, found.layout, found.run)
    with closing(open_system(connection)) as system:
        counts = {**found.counts, **{name: system.partitions(topic) for name, topic in topics.items()}}
        if index:
            return Looked(counts, found.layout, found.run)
        return Looked(
            counts | made_counts(app, system), *stored_layout(system, checkpoint_stream(app.application_id))
        )
