"""Whose an application id is: written beside the state, so that no other app takes that for its own.

An operator sees the apps of its cluster. Those of other clusters, of other installations and of laptops meet
only here, at the system that holds the state.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from streamapp.protocol.accepted_app import AcceptedApp
from streamapp.spec.problem import Problem
from streamapp.spec.reasons import Reason
from streamapp.spec.resource.app import StreamApp
from streamapp_runtime.checkpoint_entries import OWNER
from streamapp_runtime.driver.app_refusal import AppRefusedError


@dataclass(frozen=True, slots=True)
class Ownership:
    """The app that starts, and whether it takes over what belongs to another one."""

    app: str = ""  # `<namespace>/<name>` of an app on a cluster; a run elsewhere owns nothing
    take_over: bool = False

    @classmethod
    def of_cluster(cls, accepted: AcceptedApp) -> "Ownership":
        """Of an app that an operator launched. It goes by its name: recreated it is the same app."""
        metadata = accepted.app.metadata
        name = f"{metadata.namespace}/{metadata.name}" if accepted.owner else ""
        return cls(name, accepted.app.spec.take_over)

    @classmethod
    def of_run(cls, app: StreamApp) -> "Ownership":
        """Of a run that somebody started by hand."""
        return cls(take_over=app.spec.take_over)

    def check(self, values: Mapping[bytes, bytes], stream: str) -> None:
        """AppRefusedError where what lies in the checkpoint stream belongs to another app."""
        owner = recorded_owner(values, stream)
        if not owner or self.take_over or owner == self.app:
            return
        message = (
            f"the state under this id belongs to the app {owner} of a cluster; "
            "choose another id, or set takeOver once that app is deleted"
        )
        problem = Problem(0, 0, "spec.applicationId", message, Reason.APPLICATION_ID_IN_USE)
        raise AppRefusedError([problem])

    def entry(self, values: Mapping[bytes, bytes], stream: str) -> dict[bytes, bytes]:
        """The entry to write; empty where it is already written, or where nothing is claimed."""
        if not self.app or self.app == recorded_owner(values, stream):
            return {}
        return {OWNER.key: OWNER.encode({"app": self.app})}


NOBODY = Ownership()


def recorded_owner(values: Mapping[bytes, bytes], stream: str) -> str:
    """The app that owns what lies in a checkpoint stream; empty where nobody has claimed it."""
    return OWNER.read(values, stream, lambda fields: str(fields["app"])) or ""
