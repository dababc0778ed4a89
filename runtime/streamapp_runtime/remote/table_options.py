"""The options of a class that stands for a remote table, and the secrets that they name."""

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from streamapp.spec.problem import nearest
from streamapp_runtime.remote.remote_class import RemoteConfig


def table_options(config: RemoteConfig, defaults: Mapping[str, Any], *required: str) -> dict[str, Any]:
    """The options by name; ValueError for one that there is not, is missing, or has another type."""
    options: dict[str, Any] = {**dict.fromkeys(required, ""), **defaults}
    for name, value in config.options.items():
        if name not in options:
            raise ValueError(f'no option "{name}"{nearest(name, list(options))}')
        if not _is_of_kind(value, options[name]):
            kind = "an object of texts" if isinstance(options[name], dict) else "a text"
            raise ValueError(f'option "{name}" has to be {kind}; found {value!r}')
        options[name] = value
    for name in required:
        if not options[name]:
            raise ValueError(f'option "{name}" is missing')
    return options


def named_secret(options: Mapping[str, Any], name: str) -> str:
    """The value of the environment variable that an option names; empty where it names none."""
    variable = options[name]
    if variable and variable not in os.environ:
        raise ValueError(f'option "{name}": there is no environment variable "{variable}"')
    return os.environ[variable] if variable else ""


def url_without_password(url: str, secret_option: str) -> SplitResult:
    """The parts of a URL; ValueError where it has a password, which is not shown."""
    parts = urlsplit(url)
    if parts.password is not None or "password" in parse_qs(parts.query):
        mend = f"put it into an environment variable, and name that in {secret_option}"
        raise ValueError(f'option "url" has a password; {mend}')
    return parts


def _is_of_kind(value: object, default: object) -> bool:
    if isinstance(default, dict):
        return isinstance(value, dict) and all(isinstance(text, str) for text in value.values())
    return isinstance(value, str)
