"""Reads an installation from a YAML file; each problem has its path."""

import json
from collections.abc import Mapping

import yaml
from pydantic import Field, ValidationError

from streamapp.spec.problem import Problem, nearest, short
from streamapp.spec.resource.base import Part
from streamapp_operator.reconciler.installation import Allowance, Installation, nested_roots

_NONE = Installation()


class InstallationFile(Part):
    """The fields of the file; each may be left out."""

    image: str = _NONE.image
    """Image of drivers and executors, for apps that name none."""
    image_pull_policy: str = Field(_NONE.image_pull_policy, pattern="^(Always|IfNotPresent|Never)$")
    """When that image is pulled."""
    image_pull_secrets: tuple[str, ...] = _NONE.image_pull_secrets
    """Secrets, in the namespace of each app, to pull images with for apps that name none."""
    host_path_roots: tuple[str, ...] = _NONE.host_path_roots
    """Folders of nodes in which apps may keep state, each in a folder of its own; none by default."""
    allowed: tuple[Allowance, ...] = ()
    """What pod templates may ask for: hostNamespaces, privileged, hostPath, serviceAccounts."""
    driver_requests: Mapping[str, str] = _NONE.driver_requests
    """Resources of drivers that ask for none."""
    executor_requests: Mapping[str, str] = _NONE.executor_requests
    """Resources of executors that ask for none."""
    storage_class: str = _NONE.storage_class
    """Storage class of claims that name none; the cluster's default when unset."""
    spark_conf: Mapping[str, str] = _NONE.spark_conf
    """Spark settings of all apps, below their own."""


def read_installation(
    text: str, image: str | None = None, operator_class: str | None = None
) -> Installation | tuple[Problem, ...]:
    """An installation, or all problems of the file. The argument `image` takes precedence over the file's."""
    try:
        document = yaml.safe_load(text) or {}
    except yaml.YAMLError as error:
        return (Problem(0, 0, "", f"this is no YAML: {short(str(error), 200)}"),)
    try:
        file = InstallationFile.model_validate_json(json.dumps(document))
    except (ValidationError, TypeError) as error:
        return _problems(error)
    if nested := nested_roots(file.host_path_roots):
        return (Problem(0, 0, "hostPathRoots", nested),)
    return Installation(
        image=image or file.image,
        image_pull_policy=file.image_pull_policy,
        image_pull_secrets=file.image_pull_secrets,
        operator_class=operator_class,
        host_path_roots=file.host_path_roots,
        allowed=frozenset(file.allowed),
        driver_requests=file.driver_requests,
        executor_requests=file.executor_requests,
        storage_class=file.storage_class,
        spark_conf=file.spark_conf,
    )


def _problems(error: ValidationError | TypeError) -> tuple[Problem, ...]:
    if isinstance(error, TypeError):
        return (Problem(0, 0, "", f"this is no document of plain values: {error}"),)
    field_names = tuple(info.alias or name for name, info in InstallationFile.model_fields.items())
    problems = []
    for detail in error.errors():
        path = ".".join(str(part) for part in detail["loc"])
        message = detail["msg"][:1].lower() + detail["msg"][1:]
        if detail["type"] == "extra_forbidden":
            message = f"there is no such field{nearest(path, field_names)}"
        problems.append(Problem(0, 0, path, message))
    return tuple(sorted(problems))


def page() -> str:
    """The reference page."""
    rows = []
    for name, info in InstallationFile.model_fields.items():
        default = InstallationFile().model_dump(mode="json", by_alias=True)[info.alias or name]
        default_text = f"`{json.dumps(default)}`" if default else ""
        rows.append(f"| `{info.alias or name}` | {default_text} | {info.description} |")
    return "\n".join([*_HEAD, *rows, ""])


_HEAD = (
    "# The installation file",
    "",
    "`streamapp operator --installation FILE` reads defaults for all apps, and what apps may ask for, from a",
    "YAML file. They are looked at when a generation of an app is accepted, and kept with it: another file,",
    "or another version of the operator, restarts nothing.",
    "",
    "| Field | Default | What it says |",
    "| --- | --- | --- |",
)
