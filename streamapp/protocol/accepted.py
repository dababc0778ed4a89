"""The app that was accepted, as its driver is given it: whole, with its hash, never to change."""

import hashlib
from dataclasses import dataclass
from typing import Any, Final

from streamapp.jobmodel.content import canonical
from streamapp.protocol.message import Form, damaged, read, write
from streamapp.spec.app import StreamApp
from streamapp.spec.parse import from_data
from streamapp.spec.render import as_data

KIND: Final = "accepted"


@dataclass(frozen=True, slots=True)
class Accepted:
    """One generation of an app that passed all checks."""

    app: StreamApp
    generation: int = 0  # 0 where there is no cluster that counts them
    owner: str = ""  # the uid of the resource

    @property
    def hash(self) -> str:
        """What models and reports name it by."""
        return spec_hash(self.app)


class _Written(Form):
    app: dict[str, Any]
    hash: str
    generation: int = 0
    owner: str = ""


def spec_hash(app: StreamApp) -> str:
    """SHA-256 of what the app says. Defaults are left out, so that one that is added later changes nothing.

    Neither labels nor annotations count: nothing that runs looks at them.
    """
    said = as_data(app)
    said["metadata"] = {"name": app.metadata.name, "namespace": app.metadata.namespace}
    return hashlib.sha256(canonical(said)).hexdigest()


def encode_accepted(accepted: Accepted) -> str:
    """As it is mounted."""
    return write(
        KIND,
        _Written(
            app=as_data(accepted.app),
            hash=accepted.hash,
            generation=accepted.generation,
            owner=accepted.owner,
        ),
    )


def decode_accepted(text: str) -> Accepted:
    """As it was accepted; a MessageUnreadableError where it is not that any more."""
    form = read(KIND, _Written, text)
    parsed = from_data(form.app)
    if not parsed.apps:
        raise damaged(KIND, "; ".join(map(str, parsed.problems)))
    found = Accepted(parsed.apps[0], form.generation, form.owner)
    if found.hash != form.hash:
        raise damaged(KIND, f"its hash is {found.hash[:12]} and should be {form.hash[:12]}")
    return found
