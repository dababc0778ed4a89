"""Where an app runs, and the app itself: what stays the same from one model to the next."""

from dataclasses import dataclass

from streamapp.spec.app import StreamApp
from streamapp_runtime.driver.home import Home
from streamapp_runtime.driver.ledger import Ledger
from streamapp_runtime.driver.own import Own
from streamapp_runtime.systems.system import System


@dataclass(frozen=True, slots=True)
class Site:
    """One app on its system, with the driver's own books."""

    app: StreamApp
    home: Home
    system: System
    ledger: Ledger
    own: Own
