"""What a run that is its own author tells of itself in a file, from its first moment to its end."""

from dataclasses import replace
from pathlib import Path

from streamapp.protocol.driver_report import DriverState, Report
from streamapp_runtime.driver.executors.executor_pool import ExecutorPool
from streamapp_runtime.driver.modes.run_lock import lock_run
from streamapp_runtime.driver.modes.standalone_follow import StandaloneFollower
from streamapp_runtime.driver.start.locality_memory import LocalityMemory
from streamapp_runtime.transport.file_transport import FileTransport, read_report
from tests.harness.runs.app_runs import AppEnv, inputs
from tests.harness.runs.chained_app import chained, numbered
from tests.harness.runs.growing_loop import Run


def test_it_waits_until_a_batch_is_done_and_forgets_nothing_of_the_last(env: AppEnv, tmp_path: Path) -> None:
    env.write("events", inputs(numbered(0, 2), "user"))
    run = Run.start(env, chained())
    transport = FileTransport(tmp_path / "protocol")
    transport.begin()
    executor_pool = ExecutorPool("one", env.session, lambda _: None, 1)
    locality = LocalityMemory.in_folder(tmp_path / "places", "here")
    follower = StandaloneFollower(
        loop=run.loop,
        author=run.author,
        executor_pool=executor_pool,
        transport=transport,
        locality=locality,
        processors=1,
        changed=lambda _: None,
        lock=lock_run(tmp_path / "state", "default.app", take_over=False),
    )

    def said() -> Report:
        report = read_report(transport.folder)
        assert report is not None
        return report

    follower.begin()
    assert (said().state, said().model_version) == (DriverState.WAITING, run.loop.launch.model.version)
    batch = run.loop.step()
    assert batch is not None
    follower.report(batch)
    assert (said().state, said().incarnation) == (DriverState.RUNNING, batch.incarnation)
    follower.report(replace(batch, restoring=2))
    follower.report()  # as it does where it has something to warn of
    assert (said().state, said().progress.restoring) == (DriverState.RESTORING, 2)
    follower.report(ended=True)
    assert said().state is DriverState.ENDED
