"""The same app written as a Python program; it renders to the resource."""

from streamapp.dsl.app import App, SystemHandle
from streamapp.dsl.flow import Flow, StreamHandle, TableHandle
from streamapp.spec.operators import Hopping, Session, Tumbling, Window
from streamapp.spec.state import Placement, State
from streamapp.spec.streams import EventTime
from streamapp.spec.tables import Cache, Remote, Retry, SideInput

__all__ = [
    "App",
    "Cache",
    "EventTime",
    "Flow",
    "Hopping",
    "Placement",
    "Remote",
    "Retry",
    "Session",
    "SideInput",
    "State",
    "StreamHandle",
    "SystemHandle",
    "TableHandle",
    "Tumbling",
    "Window",
]
