"""Zones by their names in texts, as Spark reads these, with the regions of the Java that Spark runs on."""

import re
import struct
from collections.abc import Mapping
from functools import cache, lru_cache
from io import BytesIO
from pathlib import Path
from typing import Final

from streamapp_runtime.expressions.zones.zone_rules import Transition, YearlyRule, ZoneRules
from streamapp_runtime.installed_java import find_java

Zone = int | ZoneRules
"""Seconds that its clocks are ahead of UTC, or what says how many these are."""
_FILE: Final = "lib/tzdb.dat"
_VERSION: Final = re.compile(r'JAVA_VERSION="(1[7-9]|2[0-2])\b')
"""Short names are other regions in later ones."""
_ONE_DIGIT_HOUR: Final = re.compile(r"([+-])([0-9]):")
_ONE_DIGIT_MINUTE: Final = re.compile(r"([+-])([0-9][0-9]):([0-9])\Z")
_OFFSET: Final = re.compile(
    r"(?P<sign>[+-])(?P<h>[0-9]{1,2})(?:(?<=[+-][0-9]{2})(?P<colon>:?)(?P<m>[0-9]{2})(?:(?P=colon)(?P<s>[0-9]{2}))?)?"
)
_MOST_SECONDS: Final = 18 * 3600
_PREFIX: Final = re.compile(r"(?:UTC|GMT|UT)(?:\Z|(?=[+-]))")
_SHORT_NAMES: Final = {
    "ACT": "Australia/Darwin",
    "AET": "Australia/Sydney",
    "AGT": "America/Argentina/Buenos_Aires",
    "ART": "Africa/Cairo",
    "AST": "America/Anchorage",
    "BET": "America/Sao_Paulo",
    "BST": "Asia/Dhaka",
    "CAT": "Africa/Harare",
    "CNT": "America/St_Johns",
    "CST": "America/Chicago",
    "CTT": "Asia/Shanghai",
    "EAT": "Africa/Addis_Ababa",
    "ECT": "Europe/Paris",
    "IET": "America/Indiana/Indianapolis",
    "IST": "Asia/Kolkata",
    "JST": "Asia/Tokyo",
    "MIT": "Pacific/Apia",
    "NET": "Asia/Yerevan",
    "NST": "Pacific/Auckland",
    "PLT": "Asia/Karachi",
    "PNT": "America/Phoenix",
    "PRT": "America/Puerto_Rico",
    "PST": "America/Los_Angeles",
    "SST": "Pacific/Guadalcanal",
    "VST": "Asia/Ho_Chi_Minh",
    "EST": "-05:00",
    "MST": "-07:00",
    "HST": "-10:00",
}


def zones_are_known() -> bool:
    """True if the zones of Spark's Java can be read here."""
    return bool(_regions())


@lru_cache(maxsize=4096)
def zone_named(name: str) -> Zone | None:
    """The zone that Spark takes a name for; None where it takes it for none."""
    name = _ONE_DIGIT_HOUR.sub(r"\g<1>0\2:", name, count=1)
    name = _ONE_DIGIT_MINUTE.sub(r"\1\2:0\3", name)
    name = _SHORT_NAMES.get(name, name)
    prefix = _PREFIX.match(name)
    offset = name[prefix.end() :] if prefix else name
    if not offset or name == "Z":
        return 0
    return _offset(offset) if offset.startswith(("+", "-")) else _region(name)


def _offset(text: str) -> int | None:
    match = _OFFSET.fullmatch(text)
    if match is None:
        return None
    hours, minutes, seconds = (int(match[part] or 0) for part in "hms")
    total = hours * 3600 + minutes * 60 + seconds
    is_one = max(minutes, seconds) < 60 and total <= _MOST_SECONDS
    return (-total if match["sign"] == "-" else total) if is_one else None


def _region(name: str) -> ZoneRules | None:
    if not zones_are_known():
        raise FileNotFoundError(
            f"no {_FILE} of the Java that Spark runs on: is JAVA_HOME set as for the driver?"
        )
    rules = _regions().get(name)
    return _rules(rules) if rules else None


@cache
def _regions() -> Mapping[str, bytes]:
    """By its name, the rules of each region as Java's file has them; nothing where no such file is found."""
    java = find_java()
    if java is None:
        return {}
    home = Path(java).resolve().parents[1]
    if not (home / _FILE).is_file() or not (home / "release").is_file():
        return {}
    if not _VERSION.search((home / "release").read_text(encoding="utf-8")):
        return {}
    source = _Source((home / _FILE).read_bytes())
    source.number("b")
    source.text()
    versions = [source.text() for _ in range(source.number("h"))]
    names = [source.text() for _ in range(source.number("h"))]
    rules = [source.take(source.number("h")) for _ in range(source.number("h"))]
    regions: dict[str, bytes] = {}
    for _ in versions:
        pairs = [(source.number("h"), source.number("H")) for _ in range(source.number("h"))]
        regions = {names[name]: rules[rule] for name, rule in pairs}
    return regions


@cache
def _rules(serialized: bytes) -> ZoneRules:
    source = _Source(serialized)
    source.number("b")
    standards = source.number("i")
    for _ in range(standards):
        source.instant()
    for _ in range(standards + 1):
        source.offset()
    count = source.number("i")
    instants = [source.instant() for _ in range(count)]
    offsets = [source.offset() for _ in range(count + 1)]
    rules = [source.rule() for _ in range(source.number("b"))]
    transitions = [
        Transition(instant, before, after)
        for instant, before, after in zip(instants, offsets[:-1], offsets[1:], strict=True)
    ]
    return ZoneRules(offsets[0], transitions, rules)


class _Source(BytesIO):
    """Bytes in the form in which Java writes zones."""

    def number(self, form: str) -> int:
        number: int = struct.unpack(f">{form}", self.take(struct.calcsize(f">{form}")))[0]
        return number

    def take(self, length: int) -> bytes:
        return self.read(length)

    def text(self) -> str:
        return self.take(self.number("H")).decode()

    def offset(self) -> int:
        quarters = self.number("b")
        return self.number("i") if quarters == 127 else quarters * 900

    def instant(self) -> int:
        first = self.number("B")
        if first == 255:
            return self.number("q")
        return ((first << 16) + self.number("H")) * 900 - 4_575_744_000

    def rule(self) -> YearlyRule:
        bits = self.number("I")
        weekday, hour, clock = bits >> 19 & 7, bits >> 14 & 31, bits >> 12 & 3
        second = self.number("i") if hour == 31 else hour * 3600
        standard_bits = bits >> 4 & 255
        standard = self.number("i") if standard_bits == 255 else (standard_bits - 128) * 900
        before, after = (
            self.number("i") if halves == 3 else standard + halves * 1800
            for halves in (bits >> 2 & 3, bits & 3)
        )
        clock_offset = (0, before, standard)[clock]
        day = (bits >> 22 & 63) - 32
        return YearlyRule(
            bits >> 28, day, weekday - 1 if weekday else None, second, clock_offset, before, after
        )
