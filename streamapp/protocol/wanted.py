"""What a driver is to run: under an operator a whole model, in `streamapp run` a number of processors.

There is one author of models. Where the operator is it, the message carries the model and the layout it was
made from; the driver holds both against the layout that lies with the state, and that one is right.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from pydantic import Field

from streamapp.jobmodel.compact import decode as decode_model
from streamapp.jobmodel.compact import encode as encode_model
from streamapp.jobmodel.model import JobModel
from streamapp.protocol.message import Form, MessageUnreadableError, read, write
from streamapp.protocol.packed import as_bytes, as_text, pack, unpack
from streamapp.tasks.layout import Layout
from streamapp.tasks.layout_codec import decode as decode_layout
from streamapp.tasks.layout_codec import encode as encode_layout
from streamapp.tasks.refusal import Refusal

KIND: Final = "wanted"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is wanted of a driver from now on."""

    spec_hash: str = ""  # of the accepted app that it is meant for; empty for any
    processors: int = 0  # how many; 0 leaves it to the app
    model: JobModel | None = None  # None where the driver is the author
    layout: Layout | None = None  # what the model was made with
    locations: Mapping[str, str | None] = field(default_factory=dict)  # processor -> where it should be


class _Written(Form):
    spec_hash: str = ""
    processors: Annotated[int, Field(ge=0, le=10_000)] = 0
    version: int = 0  # of the model, for those who only look
    model: str = ""
    layout: str = ""
    locations: str = ""


def encode_wanted(wanted: Wanted) -> str:
    """As it is sent; a MessageTooLargeError where it is more than a ConfigMap takes."""
    model = wanted.model
    return write(
        KIND,
        _Written(
            spec_hash=wanted.spec_hash,
            processors=wanted.processors or (len(model.processors) if model else 0),
            version=model.version if model else 0,
            model=as_text(encode_model(model)) if model else "",
            layout=encode_layout(wanted.layout) if wanted.layout else "",
            locations=pack({name: (place,) for name, place in wanted.locations.items()}, 1)
            if wanted.locations
            else "",
        ),
    )


def decode_wanted(text: str) -> Wanted:
    """As it was sent; an UnreadableError where any part of it cannot be trusted."""
    form = read(KIND, _Written, text)
    places = unpack(form.locations, 1) if form.locations else {}
    return Wanted(
        form.spec_hash,
        form.processors,
        decode_model(as_bytes(form.model)) if form.model else None,
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
