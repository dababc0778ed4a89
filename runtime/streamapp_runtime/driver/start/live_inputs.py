"""The planning inputs of a driver: partition counts of now, and what is kept with the state."""

from collections.abc import Collection

from streamapp.author.app_streams import created_streams
from streamapp.author.proposal import PlanningInputs
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.start.app_context import AppContext
from streamapp_runtime.systems.app_systems import Systems
from streamapp_runtime.systems.stream_system import StreamSystem


def counts_of(app: StreamApp, systems: Systems) -> dict[str, int | None]:
    """The partitions of every stream, of those too that the app makes and that are there already."""
    return stream_counts(app, systems) | made_counts(app, systems.home)


def stream_counts(app: StreamApp, systems: Systems, absent: Collection[str] = ()) -> dict[str, int | None]:
    """The partitions of the streams that an app declares; None in systems that are not there yet."""
    return {
        stream.name: None
        if systems.connections.location(stream.name).system in absent
        else systems.partitions(stream.name)
        for stream in app.spec.streams
    }


def made_counts(app: StreamApp, home: StreamSystem) -> dict[str, int | None]:
    """The partitions of those streams that the app makes and that are there already."""
    made = created_streams(app)
    return {name: count for name in made if (count := home.partitions(name)) is not None}


def live_inputs(context: AppContext, processors: tuple[str, ...], now: float) -> PlanningInputs:
    """The inputs by which tasks are formed."""
    counts = counts_of(context.app, context.systems)
    return PlanningInputs(
        counts=counts,
        asked=frozenset(counts),
        layout=context.ledger.layout,
        run=context.ledger.run_id,
        now=now,
        processors=processors,
        algorithm=context.user_functions.algorithm,
        grouper=context.user_functions.grouper,
    )
