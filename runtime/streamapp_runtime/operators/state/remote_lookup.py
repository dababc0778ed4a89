"""The look-up in a remote table, and the errors where it gives no answer."""

from collections.abc import Callable
from typing import Protocol

import pyarrow as pa

from streamapp_runtime.operators.state.lookup_result import LookupResult


class RemoteTableUnavailableError(Exception):
    """A remote table stays away: the app ends, and may be started again."""


class RemoteTableRetryError(RemoteTableUnavailableError):
    """A remote table stays away: its rows wait, and are tried again."""


class RemoteLookup(Protocol):
    """A table that is kept elsewhere."""

    def find(self, keys: pa.Array, count: Callable[[str, int], None]) -> LookupResult:
        """The rows of distinct keys; `count` hears what is worth counting."""
