"""A standby driver's notice that the working driver does not answer.

The kubelet of a driver ends with its node, and Kubernetes gives a node up after 40 seconds. A standby is on
another node, and asks the driver what the kubelet asks it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

SILENT_DRIVER: Final = "streamapp.dev/silent-driver"
"""The annotation of the report's ConfigMap that has it."""
STANDBY_MANAGER: Final = "streamapp-standby"
"""Who writes that annotation, by the name of a field manager: the report beside it is another driver's."""


@dataclass(frozen=True, slots=True)
class SilentDriver:
    """A driver that has not answered, and who has asked. Both are names of pods, which have no slash."""

    driver: str
    standby: str

    def annotation(self) -> str:
        """The annotation's value."""
        return f"{self.driver}/{self.standby}"


def silent_driver_of(annotations: Mapping[str, str]) -> SilentDriver | None:
    """The silent driver that these annotations name; None where they name none that can be read."""
    driver, _, standby = annotations.get(SILENT_DRIVER, "").partition("/")
    return SilentDriver(driver, standby) if driver and standby else None
