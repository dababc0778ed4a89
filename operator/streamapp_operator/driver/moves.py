"""What can be done about an app's driver: one of these at a time."""

from dataclasses import dataclass

from streamapp_operator.facts.pods import Pod


@dataclass(frozen=True, slots=True)
class Keep:
    """The driver that lives is the one that is wanted."""

    pod: Pod


@dataclass(frozen=True, slots=True)
class Stop:
    """Ask a driver to end after its batch; without grace where nobody can ask it any more."""

    pod: Pod
    why: str
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Await:
    """Something has to be gone first; look again then, or after so many seconds."""

    what: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Clear:
    """Take away what a driver that ended has left: executors, and those that nobody can ask any more."""

    executors: tuple[Pod, ...]
    at_once: tuple[Pod, ...] = ()


@dataclass(frozen=True, slots=True)
class Start:
    """Make the driver pod of the next incarnation."""

    incarnation: int


@dataclass(frozen=True, slots=True)
class Rest:
    """Wait before the next start, because the last ones failed."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Hold:
    """A driver is wanted, and cannot be started before something outside is as it has to be."""

    reason: str
    message: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Idle:
    """No driver is wanted, and none is there."""


Move = Keep | Stop | Await | Clear | Start | Rest | Hold | Idle
