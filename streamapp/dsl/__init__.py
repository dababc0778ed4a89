"""The Python form of an app, a program that renders to the resource."""

from streamapp.dsl.app_parts import PythonCode
from streamapp.dsl.app_program import App, SystemHandle
from streamapp.dsl.stream_flow import Flow, StreamHandle, TableHandle
from streamapp.spec.resource.operators import Hopping, Session, Tumbling, Window
from streamapp.spec.resource.pods import (
    Code,
    ConfigMapKeyRef,
    Driver,
    EnvSource,
    EnvVar,
    Executor,
    Network,
    PullSecret,
    Resources,
    RestartPolicy,
)
from streamapp.spec.resource.runtime_policies import (
    Autoscale,
    BadRecords,
    Batch,
    CodeErrors,
    LateRows,
    LoggerLevel,
    Logging,
    Monitor,
    OutboxLimit,
    RejectionBound,
    RunPage,
    StateQueryAccess,
)
from streamapp.spec.resource.state import Claim, EmptyDir, HostPath, Placement, State
from streamapp.spec.resource.streams import CsvSigns, EventTime, RecordMetadata, WriterSchema
from streamapp.spec.resource.systems import SchemaRegistry
from streamapp.spec.resource.tables import Cache, Remote, Retry, SideInput
from streamapp.spec.value_types.python_references import python_reference

__all__ = [
    "App",
    "Autoscale",
    "BadRecords",
    "Batch",
    "Cache",
    "Claim",
    "Code",
    "CodeErrors",
    "ConfigMapKeyRef",
    "CsvSigns",
    "Driver",
    "EmptyDir",
    "EnvSource",
    "EnvVar",
    "EventTime",
    "Executor",
    "Flow",
    "Hopping",
    "HostPath",
    "LateRows",
    "LoggerLevel",
    "Logging",
    "Monitor",
    "Network",
    "OutboxLimit",
    "Placement",
    "PullSecret",
    "PythonCode",
    "RecordMetadata",
    "RejectionBound",
    "Remote",
    "Resources",
    "RestartPolicy",
    "Retry",
    "RunPage",
    "SchemaRegistry",
    "Session",
    "SideInput",
    "State",
    "StateQueryAccess",
    "StreamHandle",
    "SystemHandle",
    "TableHandle",
    "Tumbling",
    "Window",
    "WriterSchema",
    "python_reference",
]
