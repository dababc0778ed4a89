"""Which runs go on in a data folder: each holds a lock there, which the kernel frees when it ends."""

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from streamapp_runtime.driver.failures import FailedError
from streamapp_runtime.stores.directories.state_directory import apps_found
from streamapp_runtime.transport.file_transport import FOLDER, message_folder

_LOCK = "lock"


class RunLock:
    """The lock of a run of this process, held as long as the process lives or until it is released."""

    def __init__(self, file: int, path: Path) -> None:
        self._file = file
        self._path = path

    def check(self) -> None:
        """FailedError where another run has taken the place of this one."""
        if not _is_named(self._file, self._path):
            raise FailedError("another run of the app has taken its place")

    def release(self) -> None:
        """Let go."""
        os.close(self._file)


def lock_run(state: Path, application_id: str, *, take_over: bool) -> RunLock:
    """Lock an app's data; FailedError where another run holds it and is not to be replaced.

    A run that is replaced keeps its own file, which is not the one of that name any more.
    """
    path = message_folder(state, application_id) / _LOCK
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        if not _try_lock(file):
            os.close(file)
            if not take_over:
                raise FailedError(
                    f"{application_id} runs already on {state.parent}; stop that run, "
                    "or have this one take its place with --take-over"
                )
            path.unlink(missing_ok=True)
        elif _is_named(file, path):
            return RunLock(file, path)
        else:
            os.close(file)


def running_apps(data: Path) -> list[str]:
    """The apps that run on this machine with their data in a folder."""
    found_apps = sorted(apps_found(data / FOLDER))
    return [application_id for application_id in found_apps if _is_locked(data, application_id)]


def _is_locked(data: Path, application_id: str) -> bool:
    with suppress(FileNotFoundError):
        file = os.open(message_folder(data / "state", application_id) / _LOCK, os.O_RDWR | os.O_CLOEXEC)
        try:
            return not _try_lock(file)
        finally:
            os.close(file)
    return False


def _is_named(file: int, path: Path) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file), path.stat())
    return False


def _try_lock(file: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
