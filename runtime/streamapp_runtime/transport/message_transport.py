"""The protocol that every transport of messages implements."""

from typing import Protocol

from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.protocol.driver_report import Report
from streamapp.protocol.wanted_state import WantedState


class MessageTransport(Protocol):
    """The driver's end of the protocol. Nothing here may hold up a batch for long."""

    def wanted(self) -> WantedState | None:
        """The wanted state; None where there is no readable message."""

    def incarnation(self) -> int:
        """The incarnation of the driver for which the wanted state was published; 0 while none is known."""

    def accepted(self) -> AcceptedApp | None:
        """The newest accepted generation; None where there is no message of one."""

    def candidate(self) -> AcceptedApp | None:
        """The generation that the driver is asked about; None where it is asked about none."""

    def report(self, report: Report) -> None:
        """Send a report; a report equal to the last one is not sent again."""

    def close(self) -> None:
        """Let go of everything."""
