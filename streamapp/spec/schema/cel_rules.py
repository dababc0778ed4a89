"""CEL rules that the API server checks: immutable fields, and fields that exclude each other.

Rules across lists are not here: the operator reports these in a condition, with all errors at once.
"""

from collections.abc import Mapping

from streamapp.spec.value_types.scalars import APP_NAME

Rule = dict[str, str]

ONE_OF = {"Operator": 2, "System": 2, "Window": 1}
"""Entries with exactly one kind beside their name: counting properties costs no CEL."""


def _immutable(field: str) -> str:
    """A rule that an optional field keeps its value, or stays unset."""
    new, old = f"self.{field}", f"oldSelf.{field}"
    return f"has({new}) == has({old}) && (!has({new}) || {new} == {old})"


_RESET = "self.resetNonce > oldSelf.resetNonce"
_EITHER = [{"rule": "has(self.select) != has(self.python)", "message": "takes either select or python"}]

NAME_RULES = [
    {
        "rule": f"self.metadata.name.size() <= 40 && self.metadata.name.matches('{APP_NAME}')",
        "message": "metadata.name must be a DNS label of at most 40 characters",
    }
]

RULES: Mapping[str, list[Rule]] = {
    "Map": _EITHER,
    "FlatMap": _EITHER,
    "Stream": [{"rule": _immutable("topic"), "message": "topic is immutable; give the stream a new name"}],
    "State": [
        {
            "rule": "[has(self.persistentVolumeClaim), has(self.hostPath), has(self.emptyDir)]"
            ".filter(k, k).size() <= 1",
            "message": "takes one kind of volume",
        }
    ],
    "Spec": [
        {"rule": _immutable("applicationId"), "message": "applicationId is immutable"},
        {"rule": _immutable("operatorClass"), "message": "operatorClass is immutable"},
        {
            "rule": f"self.grouper == oldSelf.grouper || {_RESET}",
            "message": "grouper changes only together with a raised resetNonce: tasks are addresses of state",
        },
        {
            "rule": f"{_RESET} || "
            "self.tables.all(t, oldSelf.tables.all(o, o.name != t.name || o.store == t.store))",
            "message": "a table's store changes only together with a raised resetNonce",
        },
        {
            "rule": "self.resetNonce >= oldSelf.resetNonce && self.restartNonce >= oldSelf.restartNonce",
            "message": "nonces only grow",
        },
    ],
}
