"""The chart's rules of roles, made of the operator's table of its rights."""

import yaml

from streamapp_operator.controller.rbac import operator_roles

_ROLES = {
    "cluster": operator_roles.cluster_role(),
    "namespace": operator_roles.namespace_role("some"),
    "lead": operator_roles.leader_election_role("some"),
    "page": operator_roles.apps_page_role(),
}
_HEAD = "{{/* Made by `make generate` of the operator's table of its rights. */}}"


def template() -> str:
    """One named template for each role."""
    return "\n\n".join([_HEAD, *(_defined(name, role["rules"]) for name, role in _ROLES.items())]) + "\n"


def _defined(name: str, rules: list[dict[str, list[str]]]) -> str:
    written: str = yaml.safe_dump(rules, sort_keys=False, default_flow_style=None, width=200)
    return f'{{{{- define "streamapp.rules.{name}" -}}}}\n{written}{{{{- end -}}}}'
