"""Which parts of objects and texts may be secret: one table, which the index of a bundle repeats."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from streamapp.spec.redaction import REDACTED
from streamapp.spec.resource.kafka_settings import ALLOWED, SECRET

_WORDS: Final = (
    r"(?:passw(?:or)?d|passwd|passphrase|pass(?![a-z])|pwd|secret(?!Name\b|Ref\b|KeyRef\b)|token|credential|jaas"
    r"|(?:api|access|account|private|shared|ssl|signing|encryption)[-_. ]?key|connection[-_.]?string"
    r"|authorization|cookie|signature|(?<![a-z])(?:sig|auth)(?![a-z]))"
)
_SECRET_NAME: Final = re.compile(_WORDS, re.IGNORECASE)
_NAMES_OF_SECRETS: Final = frozenset(
    {
        "automountServiceAccountToken", "configSecret", "imagePullSecrets", "nodePublishSecretRef", "secret",
        "secretKeyRef", "secretName", "secretRef", "secrets", "serviceAccountToken",
        "spark.kubernetes.container.image.pullSecrets",
    }
)  # fmt: skip
"""Fields that name Secrets, and hold none of their values."""
_FREE_FIELDS: Final = frozenset(
    {"annotations", "config", "labels", "options", "parameters", "volumeAttributes"}
)
"""Maps whose keys a user chooses: there, no key is taken for one of Kubernetes."""
_ENVIRONMENT_SETTING: Final = re.compile(r"spark\.(executorEnv|kubernetes\.driverEnv|yarn\.appMasterEnv)\.")
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class FieldRule:
    """A rule about a field of an object, by its path."""

    name: str
    description: str
    hides: Callable[[Path], bool]
    is_searched: bool = True  # whether its value is also looked for in all other texts


@dataclass(frozen=True, slots=True)
class TextRule:
    """A rule about a part of a text: a field, a message or a log line."""

    name: str
    description: str
    pattern: re.Pattern[str]
    replacement: str


def is_secret_name(name: str) -> bool:
    """Whether a value under this name may be secret."""
    if name in SECRET:
        return True
    return name not in ALLOWED and _SECRET_NAME.search(name) is not None


def _is_environment(path: Path) -> bool:
    if len(path) > 2 and path[-1] == "value" and path[-3] == "env":
        return True
    return bool(path) and _ENVIRONMENT_SETTING.match(str(path[-1])) is not None


def _is_applied_copy(path: Path) -> bool:
    return bool(path) and path[-1] in {LAST_APPLIED, "fieldsV1"}


def _has_secret_name(path: Path) -> bool:
    """Whether the last key of the path says so; Kubernetes' own fields that name Secrets do not count."""
    if not path or not isinstance(path[-1], str) or not is_secret_name(path[-1]):
        return False
    is_free = not _FREE_FIELDS.isdisjoint(path[:-1])
    return is_free or path[-1] not in _NAMES_OF_SECRETS


FIELD_RULES: Final[Sequence[FieldRule]] = (
    FieldRule(
        "applied-copy",
        f"the annotation {LAST_APPLIED} and the field sets of managedFields",
        _is_applied_copy,
        is_searched=False,
    ),
    FieldRule("environment", "values of environment variables; their names stay", _is_environment),
    FieldRule(
        "secret-name",
        "values under a name that says password, secret, token, credential, key of an API or similar",
        _has_secret_name,
    ),
)

_QUOTED: Final = r"(?P<quote>\\*[\"'])(?:\\.|[^\\\n]){0,4096}?(?P=quote)"
TEXT_RULES: Final[Sequence[TextRule]] = (
    TextRule(
        "private-key",
        "private keys in PEM",
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z)", re.DOTALL
        ),
        REDACTED,
    ),
    TextRule(
        "user-information",
        "user and password in addresses",
        re.compile(r"(://)[^\s/@\"'<>]{0,512}(?::[^\s\"'<>]{0,512})?@"),
        rf"\1{REDACTED}@",
    ),
    TextRule(
        "user-and-password",
        "user:password@host without a scheme",
        re.compile(r"(?<![\w.+/@-])[\w.+-]{1,128}:[^\s:@/\"']{1,128}@(?!sha(?:256|512):)(?=[\w.-])"),
        f"{REDACTED}@",
    ),
    TextRule(
        "authorization",
        "tokens after Bearer, Basic and similar words",
        re.compile(r"\b(bearer|basic|negotiate|digest)\s+[\w.~+/=\-]{8,}", re.IGNORECASE),
        rf"\1 {REDACTED}",
    ),
    TextRule(
        "token-shape",
        "JSON Web Tokens, and tokens and key ids of well-known services",
        re.compile(
            r"\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b|\bgh[pousr]_\w{20,}"
            r"|\bgithub_pat_\w{20,}|\bxox[abprs]-[\w-]{10,}|\bAIza[\w-]{30,}|\bglpat-[\w-]{16,}"
        ),
        REDACTED,
    ),
    TextRule(
        "option",
        "what follows an option such as --password",
        re.compile(
            rf"((?<![\w-])--?(?=[A-Za-z])[\w.-]{{0,64}}?{_WORDS}[\w.-]{{0,64}}\s+)(?!-)\S+", re.IGNORECASE
        ),
        rf"\1{REDACTED}",
    ),
    TextRule(
        "secret-setting",
        "what follows a secret name and = or :",
        re.compile(
            rf"({_WORDS}[\w.-]{{0,64}}\\*[\"']?\s{{0,4}}(?:=>|[=:])\s{{0,4}})"
            rf"(?:{_QUOTED}|\\*[\"']?[^\s,;&\"'\\}}\])]+)",
            re.IGNORECASE,
        ),
        rf"\1{REDACTED}",
    ),
)


def redaction_table() -> list[dict[str, str]]:
    """The rules as the index lists them."""
    rules: list[FieldRule | TextRule] = [*FIELD_RULES, *TEXT_RULES]
    return [{"rule": rule.name, "hides": rule.description} for rule in rules]
