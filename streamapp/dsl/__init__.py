"""The Python form of an app, a program that renders to the resource."""

from streamapp.dsl.app_program import App, SystemHandle
from streamapp.dsl.stream_flow import Flow, StreamHandle, TableHandle
from streamapp.spec.resource.operators import Hopping, Session, Tumbling, Window
from streamapp.spec.resource.state import Placement, State
from streamapp.spec.resource.streams import EventTime
from streamapp.spec.resource.tables import Cache, Remote, Retry, SideInput

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
