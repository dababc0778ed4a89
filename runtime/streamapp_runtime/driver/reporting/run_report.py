"""The state of a run, as it tells those who look: the same of its own author as of one under an operator."""

from streamapp.protocol.driver_report import DriverState, ExecutorBinding, Progress, Report, next_power_of_two
from streamapp_runtime.driver.batches.batch_result import BatchResult
from streamapp_runtime.driver.batches.loop import Loop


def run_report(loop: Loop, last: BatchResult | None, utilization: int | None, *, ended: bool) -> Report:
    """The report of the loop and the last batch; the sender and the app are the caller's to add."""
    launch, supervisor = loop.launch, loop.lanes.supervisor
    bound, locations = supervisor.binding(), supervisor.executors.store_locations
    progress = Progress(next_power_of_two(last.lag), last.restoring, utilization) if last else Progress()
    return Report(
        _state(last, ended=ended),
        incarnation=loop.ledger.incarnation,
        run_id=loop.ledger.run_id,
        model_version=launch.model.version,
        binding={
            name: ExecutorBinding(locations.get(name), bound.get(name, "")) for name in supervisor.lanes
        },
        moved=supervisor.assignment.moved(),
        layout=loop.ledger.layout,
        progress=progress,
        stores=loop.lanes.stores.written,
    )


def _state(last: BatchResult | None, *, ended: bool) -> DriverState:
    if ended:
        return DriverState.ENDED
    if last is None:  # executors are not there, or have not shown yet that they can work
        return DriverState.WAITING
    return DriverState.RESTORING if last.restoring else DriverState.RUNNING
