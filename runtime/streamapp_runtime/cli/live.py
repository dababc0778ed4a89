"""`--live`: what the systems of an app say of it today, asked from this machine. Nothing is written there."""

from contextlib import closing

import click

from streamapp.author.app_streams import declared_topics
from streamapp.author.names import checkpoint_stream
from streamapp.cli.facts.live_lookup import LiveFacts, LookupRefusedError, SystemAccess
from streamapp.cli.output_option import UnreachableError
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.state_schemas import stored_changes
from streamapp_runtime.driver.checkpoints.stored_state import read_layout, stored_values
from streamapp_runtime.driver.start.app_storage import connection_of
from streamapp_runtime.driver.start.live_inputs import made_counts
from streamapp_runtime.incarnation import read_incarnation
from streamapp_runtime.systems.connection import EmbeddedConnection, open_system
from streamapp_runtime.systems.stream_system import InvalidSettingsError, UnavailableError


def look(app: StreamApp, access: SystemAccess) -> LiveFacts:
    """Counts of all streams, and the layout that lies with the app's state."""
    facts = LiveFacts()
    for index, system in enumerate(app.spec.systems):
        try:
            facts = _add_system(facts, app, index, access)
        except UnavailableError as error:
            raise UnreachableError(f'the system "{system.name}" cannot be asked: {error}') from None
        except (AppRefusedError, InvalidSettingsError) as error:
            raise LookupRefusedError(str(error)) from None
        except StateUnreadableError as error:  # the command was used rightly
            raise click.ClickException(str(error)) from None
    return facts


def _add_system(facts: LiveFacts, app: StreamApp, index: int, access: SystemAccess) -> LiveFacts:
    """The facts with those of this system added; the streams that the app makes are in its home."""
    app_system = app.spec.systems[index]
    if app_system.has_tables:  # the plan asks nothing of tables
        return facts
    is_home = app_system is app.spec.home
    connection = connection_of(app_system, index, access.data if is_home else None, access.secrets)
    topics = declared_topics(app, app_system.name)
    if isinstance(connection, EmbeddedConnection) and not connection.has_log:
        return LiveFacts({**facts.counts, **dict.fromkeys(topics)}, facts.layout, facts.run)
    with closing(open_system(connection)) as system:
        counts = {**facts.counts, **{name: system.partitions(topic) for name, topic in topics.items()}}
        if not is_home:
            return LiveFacts(counts, facts.layout, facts.run)
        checkpoints = checkpoint_stream(app.application_id)
        values = stored_values(system, checkpoints) or {}
        return LiveFacts(
            counts | made_counts(app, system),
            read_layout(values, checkpoints),
            read_incarnation(values, checkpoints).run_id,
            stored_changes(app, values, checkpoints),
        )
