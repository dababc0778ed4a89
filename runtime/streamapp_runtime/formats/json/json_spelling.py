"""The forms that values have in JSON, which knows texts and numbers alone."""

from dataclasses import dataclass
from typing import Final, Literal

from streamapp.spec.value_types.format_names import TimestampForm
from streamapp_runtime.formats.format_options import DecimalForm


@dataclass(frozen=True, slots=True)
class JsonSpelling:
    """The form of the values of each type that JSON does not have."""

    timestamps: TimestampForm = "text"
    local_timestamps: TimestampForm = "text"  # those without a zone
    dates: Literal["text", "days", "isostring"] = "text"  # days since 1970 began, or with a Z
    decimals: DecimalForm = "text"  # or digits; in base64 the bytes of a number without a point


PLAIN: Final = JsonSpelling()
