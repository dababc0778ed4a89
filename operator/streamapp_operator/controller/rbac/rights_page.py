"""The reference page of the operator's rights."""

from streamapp_operator.controller.rbac.operator_rights import RIGHTS, Right


def page() -> str:
    """The page."""
    return "\n".join([*_HEAD, *(_row(right) for right in RIGHTS), ""])


def _row(right: Right) -> str:
    verbs = ", ".join(f"`{verb}`" for verb in right.verbs)
    group = f"`{right.kind.group}`" if right.kind.group else ""
    return f"| `{right.resource}` | {group} | {verbs} | {right.purpose} |"


_HEAD = (
    "# What the operator may do",
    "",
    "Its roles are made of this table, and no rule in them has a wildcard. An operator that is bound to",
    "namespaces has the same rights as a `Role` in each of them, but for nodes; it touches `leases` only in",
    "the namespace where replicas agree on who leads. Whoever gives a role away must have all that is in it:",
    "some rights are here because each driver gets them for its own app.",
    "",
    "| Resource | API group | Verbs | To |",
    "| --- | --- | --- | --- |",
)
