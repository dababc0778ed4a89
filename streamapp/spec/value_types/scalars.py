"""The short texts of the resource: names, durations, expressions, with bounds and meanings in words."""

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import PydanticCustomError

from streamapp.spec.value_types import durations
from streamapp.spec.value_types.column_list import ColumnListError, parse_columns
from streamapp.spec.value_types.expressions import unbalanced
from streamapp.spec.value_types.python_references import PythonReferenceError, python_reference

APP_NAME = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
NAME = r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
TOPIC = r"^[A-Za-z0-9._-]*[A-Za-z0-9_-][A-Za-z0-9._-]*$"  # "." and ".." would lead out of a folder
PYTHON_REFERENCE = r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*:[A-Za-z_][A-Za-z0-9_]*$"
_REFERENCE = PYTHON_REFERENCE.strip("^$")
GROUPER = rf"^(partition|streamPartition|single|{_REFERENCE})$"
_PLACE = r"(node|pod|volume|label:[A-Za-z0-9./_-]+)"
LOCATION = rf"^({_PLACE}(\+{_PLACE})*|{_REFERENCE})$"
BROADCAST_INPUT = r"^[^#\s]+(#[0-9]{1,9}|#\[[0-9]{1,9}-[0-9]{1,9}\])?$"
ANNOTATION = r"^([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"
LOGGER = r"^[A-Za-z_][A-Za-z0-9_$]*([.-][A-Za-z0-9_$]+)*$"
ABSOLUTE_PATH = r"^/"
_BROKER = r"([A-Za-z_]+://)?(\[[0-9A-Fa-f:]+\]|[^\s,:/\[\]]+)(:[0-9]{1,5})?"
BROKERS = rf"^{_BROKER}(,\s*{_BROKER})*$"
_URL = r"https?://[^\s,@/?#]+(/[^\s,@?#]*)?"
URLS = rf"^{_URL}(,\s*{_URL})*$"
IMAGE = r"^\S+$"
SHARE = r"^(100|[0-9]{1,2}(\.[0-9]{1,4})?)%$"
SIGN = r"^[\t -~]$"
ONE_LINE = r"^[^\r\n]*$"
QUANTITY = r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi)?$"

MOST_APP_NAME = 40
MOST_PORT = 65_535

MEANING = {
    APP_NAME: "a DNS label: small letters, digits and hyphens, with a letter or digit at both ends",
    NAME: "a name: letters, digits, '-', '_' and '.', with a letter or digit at both ends",
    TOPIC: "letters, digits, '.', '_' and '-', and not dots alone",
    PYTHON_REFERENCE: "package.module:name",
    GROUPER: "partition, streamPartition, single, or a custom one as package.module:name",
    BROADCAST_INPUT: "stream, stream#3 or stream#[0-7]",
    VARIABLE: "letters, digits and '_', not beginning with a digit",
    LOGGER: "the name of a logger, such as org.apache.spark.scheduler or shop.scoring",
    ABSOLUTE_PATH: "a path that begins with '/'",
    LOCATION: "node, pod, volume, label:<key>, several of these joined by '+', or a custom one as "
    "package.module:name",
    BROKERS: "host:port, several joined by commas",
    URLS: "http:// or https://, without user and query, several joined by commas",
    IMAGE: "an image without spaces",
    SIGN: "one character of ASCII, or a tab",
    ONE_LINE: "a text without line breaks",
    SHARE: "a share such as 1%, 0.05% or 100%",
    QUANTITY: "a Kubernetes quantity such as 500m, 2, 512Mi or 10Gi",
    durations.PATTERN: "a duration such as 500ms, 5s, 10m, 1h30m or 7d",
}
"""Each pattern in words, for messages and for the reference page."""


def _within(shortest: str, longest: str) -> Callable[[str], str]:
    shortest_ms, longest_ms = durations.milliseconds(shortest), durations.milliseconds(longest)

    def check(value: str) -> str:
        if not shortest_ms <= durations.milliseconds(value) <= longest_ms:
            raise PydanticCustomError("duration_range", f"found {value}; allowed is {shortest} to {longest}")
        return value

    return check


def _columns(value: str) -> str:
    try:
        parse_columns(value)
    except ColumnListError as error:
        raise PydanticCustomError("columns", "{error}", {"error": str(error)}) from None
    return value


def _broadcast_input(value: str) -> str:
    first, _, last = value.partition("#")[2].strip("[]").partition("-")
    if last and int(first) > int(last):
        message = f"found {value}; the first partition has to come before the last"
        raise PydanticCustomError("broadcast_range", message)
    return value


def _broker_ports(value: str) -> str:
    for broker in value.split(","):
        port = broker.rpartition(":")[2]
        if port.isdigit() and not 0 < int(port) <= MOST_PORT:
            raise PydanticCustomError("port", f"found port {port}; allowed is 1 to {MOST_PORT}")
    return value


def _expression(value: str) -> str:
    if fault := unbalanced(value):
        raise PydanticCustomError("expression", "{fault}", {"fault": fault})
    return value


def is_python_reference(text: str) -> bool:
    """True for `package.module:name`."""
    return re.fullmatch(PYTHON_REFERENCE, text) is not None


def _python_reference(value: Any) -> Any:
    try:
        return python_reference(value)
    except PythonReferenceError as error:
        raise PydanticCustomError("python_reference", "{error}", {"error": str(error)}) from None


Duration = Annotated[str, Field(pattern=durations.PATTERN, max_length=32, examples=["30s", "10m"])]
ShortDuration = Annotated[Duration, AfterValidator(_within("0s", "1d"))]
LongDuration = Annotated[Duration, AfterValidator(_within("0s", "3650d"))]
Span = Annotated[Duration, AfterValidator(_within("1ms", "3650d"))]
RefreshInterval = Annotated[Duration, AfterValidator(_within("1s", "3650d"))]

Name = Annotated[str, Field(pattern=NAME, min_length=1, max_length=63)]
AppName = Annotated[
    str, Field(pattern=APP_NAME, min_length=1, max_length=MOST_APP_NAME, examples=["page-views"])
]
ObjectName = Annotated[str, Field(pattern=APP_NAME, min_length=1, max_length=63)]
Topic = Annotated[str, Field(pattern=TOPIC, min_length=1, max_length=249, examples=["shop.page-views"])]
LoggerName = Annotated[
    str, Field(pattern=LOGGER, min_length=1, max_length=200, examples=["org.apache.spark.scheduler"])
]
PythonReference = Annotated[
    str,
    Field(pattern=PYTHON_REFERENCE, max_length=256, examples=["scoring:scored"]),
    BeforeValidator(_python_reference),
]
Grouper = Annotated[
    str, Field(pattern=GROUPER, max_length=256, examples=["partition", "streamPartition", "single"])
]
BroadcastInput = Annotated[
    str,
    Field(pattern=BROADCAST_INPUT, max_length=128, examples=["rates", "rates#3", "rates#[0-7]"]),
    AfterValidator(_broadcast_input),
]
Variable = Annotated[str, Field(pattern=VARIABLE, max_length=255, examples=["MODEL_PATH"])]
AbsolutePath = Annotated[str, Field(pattern=ABSOLUTE_PATH, max_length=1_024, examples=["/data/streamapp"])]
Location = Annotated[
    str,
    Field(pattern=LOCATION, max_length=512, examples=["node", "volume", "label:topology.kubernetes.io/zone"]),
    BeforeValidator(_python_reference),
]
BrokerList = Annotated[
    str,
    Field(pattern=BROKERS, min_length=1, max_length=4_096, examples=["kafka:9092"]),
    AfterValidator(_broker_ports),
]
UrlList = Annotated[
    str, Field(pattern=URLS, min_length=1, max_length=4_096, examples=["https://schemas.example.com"])
]
Image = Annotated[str, Field(pattern=IMAGE, min_length=1, max_length=512, examples=["shop/page-views:1.4"])]
Share = Annotated[str, Field(pattern=SHARE, max_length=8, examples=["1%", "0.05%"])]
Quantity = Annotated[str, Field(pattern=QUANTITY, max_length=32, examples=["2", "4Gi"])]
Expression = Annotated[str, Field(min_length=1, max_length=16_384), AfterValidator(_expression)]
Condition = Annotated[Expression, Field(examples=["page NOT LIKE '/health%'"])]
SelectList = Annotated[Expression, Field(examples=["user, page, upper(country) AS country"])]
KeyExpression = Annotated[Expression, Field(examples=["user"])]
RowExpression = Annotated[Expression, Field(examples=["map('tenant', tenant)"])]
AggregateList = Annotated[Expression, Field(examples=["count(*) AS views, max(ts) AS last"])]
ColumnName = Annotated[str, Field(min_length=1, max_length=255, examples=["user"])]
Columns = Annotated[
    str,
    Field(min_length=1, max_length=65_536, examples=["user STRING, page STRING, ts TIMESTAMP"]),
    AfterValidator(_columns),
]
Text = Annotated[str, Field(max_length=4_096)]
