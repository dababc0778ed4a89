"""The names that an app needs and that others have, all of them at once, and the command that frees them."""

from typing import Final

from streamapp_operator.controller.client.labels import APP_LABEL
from streamapp_operator.controller.client.resource_kinds import (
    CONFIG_MAP,
    CONTROLLER_REVISION,
    NETWORK_POLICY,
    POD,
    ROLE,
    ROLE_BINDING,
    SERVICE,
    SERVICE_ACCOUNT,
    STATEFUL_SET,
)
from streamapp_operator.reconciler.facts.facts import Facts

_KINDS: Final = (
    *(POD, STATEFUL_SET, SERVICE, SERVICE_ACCOUNT, ROLE, ROLE_BINDING, CONFIG_MAP, NETWORK_POLICY),
    CONTROLLER_REVISION,
)
"""The kinds of objects that go with an app. Claims hold state, and are none of them."""


def names_in_the_way(facts: Facts) -> str:
    """The names in the way of a first start, and how to take them away; empty where there are none."""
    if not facts.taken_names:
        return ""
    names = ", ".join(f"{kind} {name}" for kind, name in facts.taken_names)
    return (
        f"in the way, with another owner or none: {names}. They may be left of a deleted app of this name, "
        "whose driver may be running. To end it, and delete all that is left of it but claims: "
        f"{_command(facts)}"
    )


def _command(facts: Facts) -> str:
    kinds = ",".join(kind.plural for kind in _KINDS)
    namespace = facts.manifest["metadata"]["namespace"]
    return f"kubectl delete {kinds} -n {namespace} -l {APP_LABEL}={facts.name}"
