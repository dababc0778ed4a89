"""The runs that go on in a data folder: each holds a lock there, which the kernel frees when it ends."""

from pathlib import Path

from streamapp_runtime.driver.failures import FailedError
from streamapp_runtime.stores.directories.file_lock import FileLock, is_locked
from streamapp_runtime.stores.directories.state_directory import stored_apps
from streamapp_runtime.transport.file_transport import FOLDER, message_folder

_LOCK = "lock"


class RunLock:
    """The lock of a run of this process, held as long as the process lives or until it is released."""

    def __init__(self, file: FileLock) -> None:
        self._file = file

    def check(self) -> None:
        """FailedError where another run has taken the place of this one."""
        if not self._file.is_current():
            raise FailedError("another run of the app has taken its place")

    def release(self) -> None:
        """Let go."""
        self._file.release()


def lock_run(state: Path, application_id: str, *, take_over: bool) -> RunLock:
    """Lock an app's data; FailedError where another run holds it and is not to be replaced.

    A run that is replaced keeps its own file, which is not the one of that name any more.
    """
    state.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # records and state are this user's
    path = message_folder(state, application_id) / _LOCK
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        file = FileLock(path)
        if not file.acquire():
            file.release()
            if not take_over:
                raise FailedError(
                    f"{application_id} runs already on {state.parent}; stop that run, "
                    "or have this one take its place with --take-over"
                )
            path.unlink(missing_ok=True)
        elif file.is_current():
            return RunLock(file)
        else:
            file.release()


def running_apps(data: Path) -> list[str]:
    """The apps that run on this machine with their data in a folder."""
    found_apps = sorted(stored_apps(data / FOLDER))
    return [each for each in found_apps if is_locked(message_folder(data / "state", each) / _LOCK)]
