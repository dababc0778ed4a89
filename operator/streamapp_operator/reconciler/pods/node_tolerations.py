"""How long a pod stays bound to a node that does not answer, unless the user's template says otherwise."""

from collections.abc import Mapping
from typing import Any, Final

NODE_SECONDS: Final = 30
"""Kubernetes itself waits five minutes. The engine's fences keep a pod that still runs there from harm."""
_TAINTS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def node_tolerations(user_template: Mapping[str, Any]) -> list[Any]:
    """The tolerations of a pod: the user's, and those of the taints of a lost node that these leave out."""
    user_tolerations = list((user_template.get("spec") or {}).get("tolerations") or ())
    tolerated = {one.get("key", "") for one in user_tolerations if isinstance(one, Mapping)}
    if "" in tolerated:  # every taint is
        return user_tolerations
    return user_tolerations + [
        {"key": taint, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": NODE_SECONDS}
        for taint in _TAINTS
        if taint not in tolerated
    ]
