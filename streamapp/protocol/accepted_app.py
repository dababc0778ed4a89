"""The app that was accepted, as its driver is given it: whole, with its hash, never to change."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from streamapp.jobmodel.model_content import canonical_json
from streamapp.protocol.message_frame import MessageForm, damaged_message, read_message, write_message
from streamapp.spec.parser import parse_data
from streamapp.spec.resource.app import StreamApp
from streamapp.spec.serialization import as_data

KIND: Final = "accepted"


@dataclass(frozen=True)  # without slots: the hash is kept beside the fields
class AcceptedApp:
    """One generation of an app that passed all checks."""

    app: StreamApp
    generation: int = 0  # 0 where there is no cluster that counts them
    owner: str = ""  # the uid of the resource

    @cached_property
    def hash(self) -> str:
        """The hash by which models and reports name the app: with each batch, so it is computed once."""
        return spec_hash(self.app)


class _Written(MessageForm):
    app: dict[str, Any]
    hash: str
    generation: int = 0
    owner: str = ""


def spec_hash(app: StreamApp) -> str:
    """SHA-256 of what the app says. Defaults are left out, so that one that is added later changes nothing.

    Neither labels nor annotations count: nothing that runs looks at them.
    """
    fields = as_data(app)
    fields["metadata"] = {"name": app.metadata.name, "namespace": app.metadata.namespace}
    return hashlib.sha256(canonical_json(fields)).hexdigest()


def encode_accepted(accepted: AcceptedApp) -> str:
    """As it is mounted."""
    return write_message(
        KIND,
        _Written(
            app=as_data(accepted.app),
            hash=accepted.hash,
            generation=accepted.generation,
            owner=accepted.owner,
        ),
    )


def decode_accepted(text: str) -> AcceptedApp:
    """As it was accepted; a MessageUnreadableError where it is not that any more."""
    form = read_message(KIND, _Written, text)
    parsed = parse_data(form.app)
    if not parsed.apps:
        raise damaged_message(KIND, "; ".join(map(str, parsed.problems)))
    accepted = AcceptedApp(parsed.apps[0], form.generation, form.owner)
    if accepted.hash != form.hash:
        raise damaged_message(KIND, f"its hash is {accepted.hash[:12]} and should be {form.hash[:12]}")
    return accepted
