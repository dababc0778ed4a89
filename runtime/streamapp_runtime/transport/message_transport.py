"""What every way of carrying messages can do."""

from typing import Protocol

from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.driver_report import Report
from streamapp.protocol.wanted_state import WantedState


class MessageTransport(Protocol):
    """The driver's end of the protocol. Nothing here may hold up a batch for long."""

    def wanted(self) -> WantedState | None:
        """What is wanted now; None where nobody has said anything, or nothing that can be read."""

    def accepted(self) -> AcceptedApp | None:
        """The newest generation that was accepted; None where nobody tells of any."""

    def report(self, report: Report) -> None:
        """Tell how things are; the same as before is not told again."""

    def close(self) -> None:
        """Let go of everything."""
