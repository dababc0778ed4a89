"""The folder of a run's data, and who may read it."""

from pathlib import Path
from stat import S_IMODE

from streamapp_runtime.driver.modes.run_lock import lock_run
from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem


def test_a_data_folder_is_made_for_its_user_alone(tmp_path: Path) -> None:
    of_run, of_log, there = tmp_path / "of-run", tmp_path / "of-log", tmp_path / "there"
    there.mkdir(mode=0o755)
    for folder in (of_run, there):
        lock_run(folder / "state", "app", take_over=False).release()
    EmbeddedSystem(of_log).close()
    assert [S_IMODE(folder.stat().st_mode) for folder in (of_run, of_log, there)] == [0o700, 0o700, 0o755]
