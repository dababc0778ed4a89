"""The names that an app needs and that others have, all of them at once: adopted, or freed by one command."""

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
from streamapp_operator.reconciler.facts.facts import AppFacts, Facts, TakenName

_KINDS: Final = (
    *(POD, STATEFUL_SET, SERVICE, SERVICE_ACCOUNT, ROLE, ROLE_BINDING, CONFIG_MAP, NETWORK_POLICY),
    CONTROLLER_REVISION,
)
"""The kinds of objects that go with an app. Claims hold state, and are none of them."""


def adopted_names(facts: Facts) -> tuple[TakenName, ...]:
    """The objects that the app adopts from a deleted app of its name: all that was left, or nothing.

    Executors are their driver's. Those with claims are not adopted: `streamapp claims` knows whose a claim is
    by the uid of the resource.
    """
    app, taken = facts.app.newest.app, facts.cluster.taken_names
    if app is None or not app.spec.take_over or app.spec.state.persistent_volume_claim is not None:
        return ()
    return taken if all(name.is_left_behind for name in taken) else ()


def names_in_the_way(facts: Facts) -> str:
    """The names in the way of a first start, and what to do; empty where there are none."""
    taken = [name for name in facts.cluster.taken_names if name.is_needed]
    if not taken:
        return ""
    names = ", ".join(f"{name.kind} {name.name}" for name in taken)
    if adopted_names(facts):
        return f"being adopted from a deleted app of this name: {names}"
    return (
        f"in the way, with another owner or none: {names}. They may be left of a deleted app of this name, "
        f"whose driver may be running. {_adoption(facts)}. To end it, and delete all that is left of it but "
        f"claims: {_command(facts.app)}"
    )


def _adoption(facts: Facts) -> str:
    app = facts.app.newest.app
    if app is not None and app.spec.state.persistent_volume_claim is not None:
        return "An app with volume claims cannot adopt them"
    foreign = [f"{name.kind} {name.name}" for name in facts.cluster.taken_names if not name.is_left_behind]
    if foreign:
        return f"They cannot be adopted, for {', '.join(foreign)} has another owner or is being deleted"
    return "With spec.takeOver: true the app adopts them, and the driver keeps running"


def _command(app: AppFacts) -> str:
    kinds = ",".join(kind.plural for kind in _KINDS)
    namespace = app.manifest["metadata"]["namespace"]
    return f"kubectl delete {kinds} -n {namespace} -l {APP_LABEL}={app.name}"
