"""Why a run by hand would be refused, as far as that is known before Spark starts. Nothing is written."""

from contextlib import closing

from streamapp.author.app_streams import declared_topics
from streamapp.author.names import checkpoint_stream
from streamapp.author.problems import proposal_problems
from streamapp.author.proposal import PlanningInputs
from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.checkpoints.state_schemas import stored_changes
from streamapp_runtime.driver.checkpoints.stored_state import stored_values
from streamapp_runtime.driver.failures import FailedError
from streamapp_runtime.driver.start.live_inputs import made_counts, stream_counts
from streamapp_runtime.driver.start.user_functions import UserFunctions, proposed
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.connection import EmbeddedConnection, SystemConnections
from streamapp_runtime.systems.stream_system import InvalidSettingsError, UnavailableError


def early_problems(
    app: StreamApp, connections: SystemConnections, functions: UserFunctions, *, fresh: bool = False
) -> list[Problem]:
    """The problems of a first plan, and edits that the state refuses; FailedError if the system is away.

    An app that has run is not planned: it continues with its layout where the plan of today is refused.
    One that is to begin `fresh` is planned as a new one.
    """
    counts: dict[str, int | None] = dict.fromkeys(declared_topics(app))
    absent = _absent_logs(connections)
    try:
        with closing(Systems(connections)) as systems:
            if connections.home not in absent:
                checkpoints = checkpoint_stream(app.application_id)
                values = stored_values(systems.home, checkpoints)
                if values is not None and not fresh:
                    return list(stored_changes(app, values, checkpoints))
                counts |= made_counts(app, systems.home)
            counts |= stream_counts(app, systems, absent)
    except InvalidSettingsError:
        return []  # the start says so
    except UnavailableError as error:
        raise FailedError(f"the start failed: {error}") from error
    inputs = PlanningInputs(
        counts, algorithm=functions.algorithm, grouper=functions.grouper, asked=frozenset(counts)
    )
    return list(proposal_problems(app, proposed(app, inputs)))


def _absent_logs(connections: SystemConnections) -> frozenset[str]:
    """The systems whose log is made at the first start: to open one would make it."""
    return frozenset(
        name
        for name, connection in connections.by_name.items()
        if isinstance(connection, EmbeddedConnection) and not connection.has_log
    )
