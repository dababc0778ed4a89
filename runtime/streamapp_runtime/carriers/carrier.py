"""What every way of carrying messages can do."""

from typing import Protocol

from streamapp.protocol.accepted import Accepted
from streamapp.protocol.report import Report
from streamapp.protocol.wanted import Wanted


class Carrier(Protocol):
    """The driver's end of the protocol. Nothing here may hold up a batch for long."""

    def wanted(self) -> Wanted | None:
        """What is wanted now; None where nobody has said anything, or nothing that can be read."""

    def accepted(self) -> Accepted | None:
        """The newest generation that was accepted; None where nobody tells of any."""

    def report(self, report: Report) -> None:
        """Tell how things are; the same as before is not told again."""

    def close(self) -> None:
        """Let go of everything."""
