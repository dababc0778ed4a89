"""Objects and texts without secrets: known values, secret fields, and what looks like a secret in a text.

`redaction_of` hides known values and nothing else: a process knows those of its Secrets, and its log stays
readable. `Redaction` hides by the tables of rules as well, for what leaves a cluster.
"""

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from streamapp.spec.resource.config_keys import KEYS
from streamapp.spec.resource.kafka_settings import ALLOWED, SECRET

SHORTEST: Final = 4
"""Shorter values, such as numbers, are also part of other words in an error."""
_SHORTEST_ENCODED: Final = 8
"""Base64 of shorter values has too few characters that no neighbour changes."""
REDACTED: Final = "***"


def without_values(text: str, values: Iterable[str]) -> str:
    """The text with each value replaced, and each line of a value: errors show lines of a key."""
    return redaction_of(values)(text)


def redaction_of(values: Iterable[str]) -> Callable[[str], str]:
    """`without_values` for many texts."""
    forms = {form for value in values for form in _forms(value) if len(form) >= SHORTEST}
    if not forms:
        return lambda text: text
    pattern = re.compile("|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True)))
    return lambda text: pattern.sub(REDACTED, text)


def _forms(value: str) -> Iterator[str]:
    """A value and its lines, as they are and as they stand in JSON, in addresses and in base64."""
    for line in (value, *value.splitlines()):
        yield (plain := line.strip())
        yield json.dumps(plain)[1:-1]
        yield json.dumps(plain, ensure_ascii=False)[1:-1]
        yield (in_address := _in_address(plain))
        yield in_address.replace("%20", "+")
        if len(plain) >= _SHORTEST_ENCODED:
            yield from _base64_forms(plain.encode())


def _in_address(value: str) -> str:
    """The value as a part of a URL, as urllib writes it, which no rule may import: clients are beside it."""
    return re.sub(
        r"[^A-Za-z0-9_.~-]", lambda match: "".join(f"%{each:02X}" for each in match[0].encode()), value
    )


def _base64_forms(value: bytes) -> Iterator[str]:
    """Those characters of its base64 that do not depend on what is before and after the value."""
    for before in range(3):
        encoded = b64encode(bytes(before) + value).decode()
        inner = encoded[(before * 8 + 5) // 6 : (before + len(value)) * 8 // 6]
        yield inner
        yield inner.replace("+", "-").replace("/", "_")


_STRONG_WORDS: Final = (
    r"passw(?:or)?d|passwd|passphrase|pass(?![a-z])|pwd|(?<![a-z])(?:pw|hmac|salt|psk)(?![a-z])"
    r"|secret(?!Name\b|Ref\b|KeyRef\b)|credential|jaas|dockerconfig|connection[-_.]?string|private[-_. ]?key"
)
_WEAK_WORDS: Final = (
    r"token|(?:api|access|account|shared|ssl|signing|encryption|auth|subscription|keystore|client)[-_. ]?key"
    r"|(?<![a-z])x-[a-z-]{0,20}key(?![a-z])|(?<![a-z])key-data|authorization|cookie|signature"
    r"|(?<![a-z])(?:sig|auth)(?![a-z])"
)
_WORDS: Final = rf"(?:{_STRONG_WORDS}|{_WEAK_WORDS})"
_SECRET_NAME: Final = re.compile(_WORDS, re.IGNORECASE)
_STRONG_NAME: Final = re.compile(_STRONG_WORDS, re.IGNORECASE)
_PUBLIC_ENDING: Final = re.compile(
    r"(?:algorithm|audience|chain|class|config-?file|dir|enabled|endpoint|expir(?:y|ation)|file|format|issuer"
    r"|length|location|mechanism|(?<!para)[._-]?ms|mode|path|policy|provider|seconds|scope|size|ttl|type|ur[il]"
    r"|version)$",
    re.IGNORECASE,
)
"""How names end that say something about a secret, such as where it is."""
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
_KNOWN_OPTIONS: Final = frozenset(
    {
        "bucket", "cluster", "collection", "database", "db", "dbtable", "driver", "endpoint", "fetchsize",
        "format", "host", "index", "keyspace", "namespace", "path", "port", "prefix", "region", "schema",
        "storage", "table", "timeout", "topic", "type", "url", "version",
    }
)  # fmt: skip
"""Options whose values are no secrets, whoever reads them."""
_KNOWN_ENTRIES: Final = {
    "config": ALLOWED | KEYS.keys(),
    "options": _KNOWN_OPTIONS,
    "parameters": _KNOWN_OPTIONS,
    "volumeAttributes": _KNOWN_OPTIONS,
}
"""Maps of which only entries under known names are shown: nobody can say what the others hold."""
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


def is_secret_name(name: str) -> bool:
    """True if a value under this name may be secret."""
    if name in SECRET:
        return True
    return name not in ALLOWED and _SECRET_NAME.search(name) is not None and not _PUBLIC_ENDING.search(name)


def _is_environment(path: Path) -> bool:
    if len(path) > 2 and path[-1] == "value" and path[-3] in {"env", "httpHeaders"}:
        return True
    return bool(path) and _ENVIRONMENT_SETTING.match(str(path[-1])) is not None


def _is_applied_copy(path: Path) -> bool:
    return bool(path) and path[-1] in {LAST_APPLIED, "fieldsV1"}


def _has_secret_name(path: Path) -> bool:
    """True if the path's last key names a secret; Kubernetes' own fields that name Secrets do not count."""
    if not path or not isinstance(path[-1], str) or not is_secret_name(path[-1]):
        return False
    is_free = not _FREE_FIELDS.isdisjoint(path[:-1])
    return is_free or path[-1] not in _NAMES_OF_SECRETS


def _is_unknown_entry(path: Path) -> bool:
    if len(path) < 2 or not isinstance(path[-1], str):
        return False
    known_entries = _KNOWN_ENTRIES.get(str(path[-2]))
    return known_entries is not None and path[-1] not in known_entries


FIELD_RULES: Final[Sequence[FieldRule]] = (
    FieldRule(
        "applied-copy",
        f"the annotation {LAST_APPLIED} and the field sets of managedFields",
        _is_applied_copy,
        is_searched=False,
    ),
    FieldRule(
        "environment",
        "values of environment variables and of headers of probes; their names stay",
        _is_environment,
    ),
    FieldRule(
        "secret-name",
        "values under a name that says password, secret, token, credential, key of an API or similar",
        _has_secret_name,
    ),
    FieldRule(
        "unknown-entry",
        f"in {', '.join(_KNOWN_ENTRIES)}: all values but those under names that are known to be public",
        _is_unknown_entry,
        is_searched=False,
    ),
)


@dataclass(frozen=True, slots=True)
class TextRule:
    """A rule about a part of a text: a field, a message or a log line. It hides the group `secret`."""

    name: str
    description: str
    pattern: re.Pattern[str]
    is_secret: Callable[[re.Match[str]], bool] = lambda match: True

    def applied(self, text: str) -> tuple[str, int]:
        """The text with what the rule hides replaced, and how often."""
        count = 0

        def hidden(match: re.Match[str]) -> str:
            nonlocal count
            if match["secret"].strip(_AROUND) == REDACTED or not self.is_secret(match):
                return match[0]
            count += 1
            start, end = (position - match.start() for position in match.span("secret"))
            return match[0][:start] + REDACTED + match[0][end:]

        return self.pattern.sub(hidden, text), count


_AROUND: Final = "\\\"'`[](){}, "
_PLAIN: Final = re.compile(
    r"|null|none|nil|true|false|yes|no|on|off|\*+|undefined|invalid|missing|not|required|unset|expired|wrong",
    re.IGNORECASE,
)
_NUMBER: Final = re.compile(r"[\d.,:]+(?:ns|us|ms|[smhd%])?")


def _is_plain(value: str) -> bool:
    return _PLAIN.fullmatch(value.strip(_AROUND)) is not None


def _is_made_up(value: str) -> bool:
    """True if no word, name or number looks like this: digits or symbols stand between the letters."""
    value = value.strip(_AROUND)
    has_letters = any(character.isalpha() for character in value)
    digit_groups = len(re.findall(r"\d+", value))
    has_cases = re.search(r"[a-z]", value) is not None and re.search(r"[A-Z]", value) is not None
    has_symbols = re.search(r"[!$%^*#+=~]", value) is not None
    return has_letters and (digit_groups > 1 or (digit_groups == 1 and has_cases) or has_symbols)


def _is_random(value: str) -> bool:
    """True if lower case, upper case and digits change places as often as in random characters."""
    classes = ["d" if each.isdigit() else "u" if each.isupper() else "l" for each in value if each.isalnum()]
    changes = sum(one != other for one, other in pairwise(classes))
    return set(classes) == {"d", "u", "l"} and changes >= 0.4 * (len(classes) - 1)


def _under_secret_name(match: re.Match[str]) -> bool:
    """True if the name beside a value is one of a secret, and the value more than a word such as `null`."""
    before = match.string[max(0, match.start("name") - 64) : match.start("name")]
    head = re.search(r"[\w.-]*$", before)
    name = (head[0] if head else "") + match["name"]
    value = match["secret"]
    if _is_plain(value) or not is_secret_name(name.lstrip("-.")):
        return False
    if name.lstrip("-.") in _NAMES_OF_SECRETS - {"secret"}:
        return False
    if _STRONG_NAME.search(name):
        return True
    return _NUMBER.fullmatch(value.strip(_AROUND)) is None


def _is_setting(match: re.Match[str]) -> bool:
    if not _under_secret_name(match):
        return False
    if match["separator"] == "=" or match["quote"] or _STRONG_NAME.search(match["name"]):
        return True
    value = match["secret"].strip(_AROUND)
    return _is_made_up(value) or len(value) >= 16


def _is_refused_input(match: re.Match[str]) -> bool:
    """True if the line of the message, or the one before it, which has the path, names a secret."""
    lines = match.string[max(0, match.start() - 512) : match.start()].rsplit("\n", 2)
    return any(is_secret_name(word) for line in lines[-2:] for word in line.split())


def _is_no_port(match: re.Match[str]) -> bool:
    return re.fullmatch(r"[\d:.]+(?:/\w+)?", match["secret"]) is None


def _is_in_sentence(match: re.Match[str]) -> bool:
    value = match["secret"].strip(_AROUND + ".;")
    if _is_plain(value) or len(value) < SHORTEST:
        return False
    is_told = match["link"] is not None and match["word"].lower().startswith("pass")
    return _is_made_up(value) or (is_told and _ORDINARY.fullmatch(value) is None)


_ORDINARY: Final = re.compile(
    r"an?|the|too|also|now|only|[a-z]+(?:ed|ing)|changed|correct|default|empty|given|hidden|incorrect|kept|known|long"
    r"|needed|read|secret|sent|set|short|shown|unknown|valid|weak|written",
    re.IGNORECASE,
)
"""Words that follow `the password is` in a sentence about a password."""


def _is_random_run(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - 48) : match.start()].lower()
    is_digest = re.search(r"sha-?\d+[:=-]+[\w+/]*$", before) or re.match(r"sha\d+-", match["secret"])
    return is_digest is None and _is_random(match["secret"])


_QUOTED: Final = r"(?P<quote>\\*[\"'])(?:\\.|[^\\\n]){0,4096}?(?P=quote)"
_BLOCK: Final = r"[|>][+-]?[ \t]*\n(?P<indent>[ \t]+)[^\n]*(?:\n(?P=indent)[^\n]*)*"
_SERVICE_TOKENS: Final = (
    r"\beyJ[\w-]{8,}\.[\w-]{4,}(?:\.[\w-]*)?|\b(?:AKIA|ASIA|ABIA|ACCA|LTAI)[0-9A-Za-z]{16,20}\b"
    r"|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bxox[abeoprs][-.][\w.-]{10,}|\bxapp-\d-[\w-]{10,}"
    r"|\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\b1//0[\w-]{20,}|\bgl[a-z]{2,5}[-_][\w.-]{16,}"
    r"|\b[sr]k_(?:test|live|prod)_\w{10,}|\b(?:sk|pk)-[a-z]{2,10}[\d-][\w-]{20,}|\bhv[sbr]\.[\w-]{20,}"
    r"|\bnpm_\w{20,}|\bpypi-\w[\w-]{30,}|\brubygems_\w{20,}|\bSG\.[\w-]{10,}\.[\w-]{10,}|\bdapi[0-9a-f]{32}"
    r"|\bdo[opr]_v1_\w{30,}|\bshp(?:at|ca|pa|ss)_\w{20,}|\b(?:hf|api_org)_[A-Za-z0-9]{20,}|\bdckr_[a-z]+_[\w-]{16,}"
    r"|\bAGE-SECRET-KEY-1\w{20,}|\b(?:NRAK|NRJS|PMAK|CFPAT|HRKU)-[\w-]{16,}|\b(?:lin_api|ntn|pnu|rdme|sntry[su])_\w{20,}"
    r"|\bkey-[0-9a-f]{32}\b|\b(?:SK|AC)[0-9a-f]{32}\b|\bsha256~[\w-]{30,}|\bpul-[0-9a-f]{40}\b|\bsq0\w{3}-[\w-]{20,}"
    r"|\bdp\.[a-z]+\.\w{30,}|\bxkeysib-[\w-]{30,}|\bATATT3[\w=-]{30,}|\b\w{14}\.atlasv1\.[\w=-]{30,}"
)
TEXT_RULES: Final[Sequence[TextRule]] = (
    TextRule(
        "private-key",
        "private keys in PEM",
        re.compile(
            r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----.*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z))",
            re.DOTALL,
        ),
    ),
    TextRule(
        "secret-object",
        "the data of Secrets in YAML",
        re.compile(
            r"^kind: Secret\b(?:\n[^\n]+){0,40}?\n(?:stringData|data):[ \t]*(?P<secret>(?:\n[ \t]+[^\n]+)+)",
            re.MULTILINE,
        ),
    ),
    TextRule(
        "secret-object",
        "the data of Secrets in YAML, before the kind",
        re.compile(
            r"^(?:stringData|data):[ \t]*(?P<secret>(?:\n[ \t]+[^\n]+)+)"
            r"(?=(?:\n[^\n]+){0,40}?\nkind: Secret\b)",
            re.MULTILINE,
        ),
    ),
    TextRule(
        "header",
        "the headers Authorization and Cookie, to the end of the quote or line",
        re.compile(
            r"\b(?:authorization|cookie)\\*[\"']?\s{0,4}[:=]\s{0,4}"
            rf"(?P<secret>{_QUOTED}|[^\"'\s][^\"'\n]*(?:(?<==)\"[^\"\n]*\"[^\"'\n]*)*)",
            re.IGNORECASE,
        ),
        lambda match: not _is_plain(match["secret"]),
    ),
    TextRule(
        "user-information",
        "user and password in addresses",
        re.compile(r"(?<!spark)://(?P<secret>[^\s/@\"'<>]{0,512}(?:[:@][^\s\"'<>]{0,512})?)@"),
    ),
    TextRule(
        "user-and-password",
        "user:password@host without a scheme",
        re.compile(
            r"(?<![\w.+/@-])(?P<secret>[\w.+-]{1,128}:[^\s:@/\"']{1,128})@(?!sha(?:256|512):)(?=[\w.-])"
        ),
    ),
    TextRule(
        "user-and-password",
        "user/password@ in addresses of Oracle",
        re.compile(r"\bthin:(?P<secret>[^\s/@]{1,128}/[^\s\"']{1,128})@"),
    ),
    TextRule(
        "authorization",
        "tokens after Bearer, Basic and similar words",
        re.compile(
            r"\b(?:bearer|basic|negotiate|digest|apikey)\s+(?P<secret>[\w.~+/=\-]{8,})", re.IGNORECASE
        ),
        lambda match: len(match["secret"]) >= 16 or re.search(r"[\d=]", match["secret"]) is not None,
    ),
    TextRule(
        "token-shape",
        "JSON Web Tokens, and tokens and key ids of well-known services",
        re.compile(rf"(?P<secret>{_SERVICE_TOKENS})"),
    ),
    TextRule(
        "secret-address",
        "what follows the address of a webhook",
        re.compile(r"(?:\bhooks\.[\w.-]+/[a-z]+/|/webhooks?\w?/)(?P<secret>[^\s\"'<>]+)"),
    ),
    TextRule(
        "option",
        "what follows an option such as --password",
        re.compile(
            rf"(?<![\w-])--?(?=[A-Za-z])(?P<name>[\w.-]{{0,64}}?{_WORDS}[\w.-]{{0,64}})\s+(?P<secret>(?!-)\S+)",
            re.IGNORECASE,
        ),
        _under_secret_name,
    ),
    TextRule(
        "short-option",
        "passwords after -u user: or -p of a login",
        re.compile(
            r"\s-u\s+[\"']?[\w.@+-]+:(?P<secret>[^\s\"']+)",
        ),
        _is_no_port,
    ),
    TextRule(
        "short-option",
        "passwords after -p of a command that has a user, and -a of redis-cli",
        re.compile(
            r"(?:(?:\blogin\b|\bsshpass\b|\s-u\s+\S+|--user(?:name)?[ =]\S+)[^\n]{0,200}?\s-p\s*"
            r"|\bredis-cli\b[^\n]{0,200}?\s-a\s+)[\"']?(?P<secret>[^\s\"',-][^\s\"',]*)"
        ),
        _is_no_port,
    ),
    TextRule(
        "named-value",
        "a value beside a secret name, in XML, JSON and YAML",
        re.compile(
            r"\b(?:name|key|property)(?:\\*[\"'])?(?:>|\s{0,4}[:=]\s{0,4})\\*[\"']?(?P<name>[\w.-]{1,128})"
            r"\\*[\"']?(?:</\w+>)?[,;]?\s{0,100}<?\\*[\"']?value\\*[\"']?(?:>|\s{0,4}[:=]\s{0,4})"
            rf"(?P<secret>{_QUOTED}|[^\s<>,;\"'\}}]+)",
            re.IGNORECASE,
        ),
        _under_secret_name,
    ),
    TextRule(
        "element",
        "the content of an element with a secret name",
        re.compile(
            rf"<(?P<name>[\w:.-]{{0,64}}?{_WORDS}[\w:.-]{{0,64}})(?:\s[^<>]*)?>(?P<secret>[^<>]+)</",
            re.IGNORECASE,
        ),
        _under_secret_name,
    ),
    TextRule(
        "secret-setting",
        "what follows a secret name and = or :",
        re.compile(
            rf"(?P<name>{_WORDS}[\w.-]{{0,64}})\\*[\"']?(?P<separator>\s{{0,4}}(?:=>|[=:])\s{{0,4}})"
            rf"(?P<secret>{_BLOCK}|![\w-]+[ \t]+\S+|{_QUOTED}|\\*[\"']?[^\s,;&\"'\\}}\])]+)",
            re.IGNORECASE,
        ),
        _is_setting,
    ),
    TextRule(
        "refused-value",
        "a value that is refused for a setting with a secret name",
        re.compile(
            r"\bvalue (?P<secret>\S+) (?:for|of) (?:(?:the )?(?:configuration|setting|option|property|key) )?"
            r"[\"']?(?P<name>[\w.-]+)",
            re.IGNORECASE,
        ),
        _under_secret_name,
    ),
    TextRule(
        "refused-value",
        "the input that a check of types repeats",
        re.compile(rf"\binput_value=(?P<secret>{_QUOTED})"),
        _is_refused_input,
    ),
    TextRule(
        "sentence",
        "passwords in quotes after the word",
        re.compile(
            rf"\b(?:passw(?:or)?d|passphrase|identified by)[ (]{{1,4}}(?P<secret>{_QUOTED})", re.IGNORECASE
        ),
        lambda match: not _is_plain(match["secret"]),
    ),
    TextRule(
        "sentence",
        "`the password is`, `the password for shop:`, and what no word looks like after the word",
        re.compile(
            r"\b(?P<word>passw(?:or)?d|passphrase|secret|token|credentials?|api key)"
            r"(?:(?P<link>(?: (?:for|of) (?:the )?[\w@.-]+)?(?::| is:?| was:?)) | (?:[\w@.-]+ ?[/:] ?)?)"
            r"(?P<secret>[^\s,;]{4,})",
            re.IGNORECASE,
        ),
        _is_in_sentence,
    ),
    TextRule(
        "random",
        "24 characters and more in which lower case, upper case and digits alternate as at random",
        re.compile(r"(?<![\w-])(?P<secret>[\w-]{24,})"),
        _is_random_run,
    ),
)


def redaction_table() -> list[dict[str, str]]:
    """The rules as the index of a bundle lists them."""
    rules: list[FieldRule | TextRule] = [*FIELD_RULES, *TEXT_RULES]
    known_values = {"rule": KNOWN_VALUES, "hides": _KNOWN_VALUES_HIDE}
    return [*({"rule": rule.name, "hides": rule.description} for rule in rules), known_values]


_LEAST_SEARCHED: Final = 8
"""Shorter values of variables, such as `info`, are also words of other texts."""
_PLATFORM: Final = ("STREAMAPP_", "SPARK_")
"""Variables that the operator and Spark set: names and addresses, which are of use elsewhere."""
KNOWN_VALUES: Final = "known-value"
_SEALED_FRAME: Final = re.compile(r"U0(?:FK|FM|FN|FQ|FT)[\w+/=]+")
"""A job model, metadata or a list of ours in base64, by its mark: it looks random, and is needed to help."""
_KNOWN_VALUES_HIDE: Final = (
    f"hidden values of {_LEAST_SEARCHED} characters or more, wherever else they occur, also in base64"
)


class Redaction:
    """Hides by the table of rules, and what one object shows to be secret in all others; counts by rule."""

    def __init__(self, objects: Iterable[Any], public_values: Iterable[str] = ()) -> None:
        """The objects are all that is written; public values, such as names of objects, are never hidden."""
        values = {value for each in objects for value in _secret_values(each, ())}
        known_values = {value for value in values if len(value) >= _LEAST_SEARCHED} - set(public_values)
        self._hide_known_values = redaction_of(known_values)
        self.hidden = Counter[str]()

    def redacted(self, value: Any, path: Path = ()) -> Any:
        """A value of JSON, at a path, with all that is hidden replaced."""
        rule = _field_rule(path)
        if rule is not None:
            return self._hidden(value, rule.name)
        if isinstance(value, dict):
            return {self.text(key): self.redacted(each, (*path, key)) for key, each in _named(value)}
        if isinstance(value, list):
            return [self._list_item(value, number, path) for number in range(len(value))]
        return self._string(value, path) if isinstance(value, str) else value

    def text(self, text: str) -> str:
        """A text with all that is hidden replaced."""
        for rule in TEXT_RULES:
            text, count = rule.applied(text)
            self.hidden[rule.name] += count
        without_values = self._hide_known_values(text)
        self.hidden[KNOWN_VALUES] += without_values != text
        return without_values

    def _string(self, text: str, path: Path) -> str:
        if _SEALED_FRAME.fullmatch(text):
            return text
        document = _document(text)
        if document is None:
            return self.text(text)
        return json.dumps(self.redacted(document, path))

    def _list_item(self, items: Sequence[Any], number: int, path: Path) -> Any:
        if _follows_secret_option(items, number):
            return self._hidden(items[number], "option")
        return self.redacted(items[number], (*path, number))

    def _hidden(self, value: Any, rule: str) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, dict) and rule != "applied-copy":
            return {self.text(key): self._hidden(each, rule) for key, each in value.items()}
        if isinstance(value, list):
            return [self._hidden(each, rule) for each in value]
        self.hidden[rule] += 1
        return REDACTED


def _field_rule(path: Path) -> FieldRule | None:
    return next((rule for rule in FIELD_RULES if rule.hides(path)), None)


def _named(fields: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The fields; a value beside a secret `name`, as in a list of headers, counts as under that name."""
    is_secret = isinstance(fields.get("name"), str) and is_secret_name(fields["name"])
    for key, value in fields.items():
        yield key, (REDACTED if is_secret and key == "value" and isinstance(value, str) else value)


def _follows_secret_option(items: Sequence[Any], number: int) -> bool:
    option = items[number - 1] if number else ""
    is_option = isinstance(option, str) and option.startswith("-") and "=" not in option
    return is_option and isinstance(items[number], str) and is_secret_name(option)


def _document(text: str) -> Any:
    """The object or list that a text is as JSON; None for another text."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, (dict, list)) else None


def _secret_values(value: Any, path: Path) -> Iterator[str]:
    """The values that fields of an object show to be secret."""
    rule = _field_rule(path)
    if rule is not None:
        if rule.is_searched:
            yield from _leaves(value)
        return
    if isinstance(value, dict):
        name = str(value.get("name"))
        for key, each in value.items():
            if key != "value" or not isinstance(each, str):
                yield from _secret_values(each, (*path, key))
            elif is_secret_name(name) or not name.startswith(_PLATFORM):
                yield from [each] if is_secret_name(name) else _secret_values(each, (*path, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            if _follows_secret_option(value, number):
                yield each
            yield from _secret_values(each, (*path, number))
    elif isinstance(value, str) and (document := _document(value)) is not None:
        yield from _secret_values(document, path)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _leaves(each)
    elif isinstance(value, list):
        for each in value:
            yield from _leaves(each)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield str(value)
