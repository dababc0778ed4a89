"""The wanted state of a driver: under an operator a whole model, in `streamapp run` a number of processors.

There is one author of models. Where the operator is it, the message carries the model and the layout it was
made from; the driver holds both against the layout that lies with the state, and that one is right.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from pydantic import Field

from streamapp.jobmodel.compact_codec import decode_model, encode_model
from streamapp.jobmodel.job_model import JobModel
from streamapp.protocol.message_frame import MessageForm, MessageUnreadableError, read_message, write_message
from streamapp.protocol.packed_lists import bytes_to_text, pack_rows, text_to_bytes, unpack_rows
from streamapp.spec.app_bounds import MOST_PROCESSORS
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_codec import decode_layout, encode_layout
from streamapp.tasks.refusal import Refusal

KIND: Final = "wanted"


@dataclass(frozen=True, slots=True)
class WantedState:
    """The state that is wanted of a driver from now on."""

    spec_hash: str = ""  # of the accepted app that it is meant for; empty for any
    processors: int = 0  # how many; 0 leaves it to the app
    model: JobModel | None = None  # None where the driver is the author
    layout: Layout | None = None  # what the model was made with
    locations: Mapping[str, str | None] = field(default_factory=dict)  # processor -> where it should be


class _Written(MessageForm):
    spec_hash: str = ""
    processors: Annotated[int, Field(ge=0, le=10_000)] = 0
    version: int = 0  # of the model, for those who only look
    model: str = ""
    layout: str = ""
    locations: str = ""


def encode_wanted(wanted: WantedState) -> str:
    """As it is sent; a MessageTooLargeError where it is more than a ConfigMap takes."""
    model = wanted.model
    return write_message(
        KIND,
        _Written(
            spec_hash=wanted.spec_hash,
            processors=wanted.processors or (len(model.processors) if model else 0),
            version=model.version if model else 0,
            model=bytes_to_text(encode_model(model)) if model else "",
            layout=encode_layout(wanted.layout) if wanted.layout else "",
            locations=pack_rows({name: (place,) for name, place in wanted.locations.items()}, 1)
            if wanted.locations
            else "",
        ),
    )


def decode_wanted(text: str) -> WantedState:
    """As it was sent; an UnreadableError where any part of it cannot be trusted."""
    form = read_message(KIND, _Written, text)
    places = unpack_rows(form.locations, 1, MOST_PROCESSORS) if form.locations else {}
    return WantedState(
        form.spec_hash,
        form.processors,
        decode_model(text_to_bytes(form.model)) if form.model else None,
        layout_in(form.layout),
        {name: place for name, (place,) in places.items()},
    )


def layout_in(text: str) -> Layout | None:
    """The layout that a message carries."""
    if not text:
        return None
    layout = decode_layout(text)
    if isinstance(layout, Refusal):
        raise MessageUnreadableError(layout.reason, layout.message, layout.hint)
    return layout
