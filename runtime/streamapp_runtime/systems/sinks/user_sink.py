"""A sink whose class is the app's own: its errors are told as those of systems."""

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.crash_points import crash_point
from streamapp_runtime.named_python import named_python
from streamapp_runtime.systems.sinks.sink import SinkCommit, SinkTable, silence
from streamapp_runtime.systems.stream_system import (
    FencedError,
    InvalidSettingsError,
    RecordRefusedError,
    SystemTrouble,
    UnavailableError,
)

_METHODS: Final = ("prepare", "numbers", "commit", "close")


@dataclass(slots=True)
class UserSink:
    """An object of the class that `package.module:Class` names; `unavailable` of it tells more outages."""

    name: str
    own: Any
    _since: float | None = field(default=None, init=False)  # since when a call lasts

    def prepare(self, table: SinkTable) -> tuple[str, ...]:
        """Why the table cannot take the rows of those columns, each reason with a fix; it may be created."""
        with self._call():
            return tuple(self.own.prepare(table))

    def numbers(self, owner: str, names: Collection[str]) -> dict[str, int]:
        """Those of the owner's numbers that are there, as of the last commit."""
        with self._call():
            return dict(self.own.numbers(owner, names))

    def commit(self, commit: SinkCommit) -> None:
        """Do all of it, or nothing."""
        crash_point("sink.before")
        with self._call():
            self.own.commit(commit)
        crash_point("sink.after")

    def forgetting(self, owner: str) -> str:
        """The advice how to forget the owner's numbers."""
        return f'delete the numbers of "{owner}" in the sink while the app is stopped'

    def trouble(self) -> SystemTrouble | None:
        """The silence of the sink, where a call has lasted for long."""
        return None if self._since is None else silence(self.name, self._since)

    def interrupt(self) -> None:
        """Nothing: calls end by time-outs of the class's own."""

    def close(self) -> None:
        """Let go of everything."""
        with self._call():
            self.own.close()

    @contextmanager
    def _call(self) -> Iterator[None]:
        self._since = time.monotonic()
        try:
            yield
        except (FencedError, StateUnreadableError):
            raise
        except (OSError, *getattr(self.own, "unavailable", ())) as error:
            raise UnavailableError(f"{self.name}: {error}") from error
        except Exception as error:
            raise RecordRefusedError(f"{self.name}: {type(error).__name__}: {error}") from error
        finally:
            self._since = None


def made_sink(name: str, settings: Mapping[str, str], create_if_missing: bool) -> UserSink:
    """The sink that a class of the app's makes; InvalidSettingsError where there is none."""
    try:
        made: Callable[..., Any] = named_python(name)
    except (ImportError, AttributeError) as error:
        mend = "look whether the app's image holds it, and what it imports"
        raise InvalidSettingsError(f"{name} cannot be loaded: {error}; {mend}") from error
    if missing := [method for method in _METHODS if not callable(getattr(made, method, None))]:
        raise InvalidSettingsError(f"{name} has no {', '.join(missing)}; a sink has {', '.join(_METHODS)}")
    try:
        own = made(settings, create_if_missing)
    except KeyError as error:
        raise InvalidSettingsError(f"{name} asks for {error}; say it in config, or in the Secret") from error
    except (TypeError, ValueError) as error:
        raise InvalidSettingsError(f"{name} cannot be made of its settings: {error}") from error
    return UserSink(name, own)
