"""An app and the systems that it runs on, which stay the same from one model to the next."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.driver.checkpoints.checkpoint_stream import CheckpointStream
from streamapp_runtime.driver.imports.table_import import ImportProgress, no_listener
from streamapp_runtime.driver.start.app_storage import AppStorage, app_connections
from streamapp_runtime.driver.start.user_functions import UserFunctions
from streamapp_runtime.systems.app_systems import Systems


@dataclass(frozen=True, slots=True)
class AppContext:
    """One app on its systems, with the driver's view of its checkpoint stream."""

    app: StreamApp
    storage: AppStorage
    systems: Systems
    ledger: CheckpointStream
    user_functions: UserFunctions
    now: Callable[[], float] = time.time  # seconds since the epoch
    import_progressed: Callable[[ImportProgress], None] = no_listener  # told how far tables that are read are
    show_values: bool = False  # whether the page of the app shows what is in records

    def with_app(self, app: StreamApp) -> Self:
        """The context of another generation of the app, with its streams, on the same systems."""
        connections = app_connections(app, self.systems.connections.by_name)
        return replace(self, app=app, systems=self.systems.relocated(connections))
