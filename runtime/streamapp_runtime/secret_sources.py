"""The sources of the values of Secrets in a container, as its pod template names them."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

_OF_THE_PLATFORM: Final = re.compile(
    r"(KUBERNETES|SPARK|STREAMAPP|PYSPARK|PYTHON|JAVA|LC)_?.*|.+_SERVICE_(HOST|PORT.*)|.+_PORT(_[0-9]+_(TCP|UDP).*)?"
    r"|PATH|HOME|LANG|HOSTNAME|PWD|OLDPWD|SHLVL|TERM|USER|TZ|GPG_KEY|LD_LIBRARY_PATH|MALLOC_ARENA_MAX|_"
)
"""Variables that an image, Kubernetes, Spark or StreamApp sets."""


@dataclass(frozen=True, slots=True)
class SecretSources:
    """The variables and folders of a container that have values of Secrets."""

    variables: tuple[str, ...] = ()  # of one key
    prefixes: tuple[str, ...] = ()  # of the variables of all keys of a Secret; its keys are not known
    other_variables: frozenset[str] = frozenset()  # that have their value elsewhere
    paths: tuple[str, ...] = ()  # where volumes are mounted

    @classmethod
    def of_pod(cls, spec: Mapping[str, Any], container: str) -> "SecretSources":
        """Those of one container of a pod."""
        own = next((each for each in _list(spec, "containers") if each["name"] == container), {})
        variables = {
            each["name"]: "secretKeyRef" in (each.get("valueFrom") or {}) for each in _list(own, "env")
        }
        volumes = {each["name"] for each in _list(spec, "volumes") if _has_secret(each)}
        return cls(
            tuple(name for name, is_secret in variables.items() if is_secret),
            tuple(each.get("prefix", "") for each in _list(own, "envFrom") if each.get("secretRef")),
            frozenset(name for name, is_secret in variables.items() if not is_secret),
            tuple(each["mountPath"] for each in _list(own, "volumeMounts") if each["name"] in volumes),
        )

    def values(self, environment: Mapping[str, str]) -> frozenset[str]:
        """The values that are there now. Binary ones are left out: nobody writes them into a text."""
        names = {*self.variables, *(name for name in environment if self._may_be_of_a_secret(name))}
        values = {environment.get(name, "") for name in names}
        values.update(text for path in self.paths for text in _texts(Path(path)))
        return frozenset(value for value in values if value and "\0" not in value)

    def _may_be_of_a_secret(self, name: str) -> bool:
        """True if a variable is of a whole Secret, as far as nothing else accounts for it."""
        if name in self.other_variables or not name.startswith(self.prefixes or ("\0",)):
            return False
        prefixed = any(prefix and name.startswith(prefix) for prefix in self.prefixes)
        return prefixed or not _OF_THE_PLATFORM.fullmatch(name)


NO_SECRETS: Final = SecretSources()


def _list(parent: Mapping[str, Any], field: str) -> list[Mapping[str, Any]]:
    return parent.get(field) or []


def _has_secret(volume: Mapping[str, Any]) -> bool:
    projected = _list(volume.get("projected") or {}, "sources")
    return "secret" in volume or any("secret" in source for source in projected)


def _texts(path: Path) -> Iterator[str]:
    """The texts of a mounted volume, or of one file of it; the kubelet's own folders begin with two dots."""
    if path.is_file():
        yield path.read_text("utf-8", errors="replace").rstrip("\n")
    for folder, folders, files in os.walk(path, followlinks=True):
        folders[:] = [name for name in folders if not name.startswith("..")]
        for file in files:
            yield Path(folder, file).read_text("utf-8", errors="replace").rstrip("\n")
