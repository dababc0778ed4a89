"""The network that leads to brokers, and the time that passes while they are waited for."""

import socket
import time
from typing import Final

from streamapp_runtime.systems.kafka.wire.requests.broker_names import AddressFamily, BrokerNames

_NAMES: Final = BrokerNames()


class BrokerNetwork:
    """The machine's own network and clock."""

    def connect(self, host: str, port: int, seconds: float, family: AddressFamily) -> socket.socket:
        """A connection to a broker; OSError where none is accepted in time."""
        return _NAMES.connect(host, port, seconds, family)

    def now(self) -> float:
        """Seconds of a clock that only goes on."""
        return time.monotonic()

    def pause(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)
