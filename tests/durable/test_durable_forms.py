"""The lists of durable forms: the rule for versions, and that no form is outside of them."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from streamapp import durable_forms as app_forms
from streamapp.durable_forms import UPGRADE_HINT, DurableForm, VersionRefusal
from streamapp.spec.reasons import Reason
from streamapp_operator import operator_durable_forms as operator_forms
from streamapp_runtime import runtime_durable_forms as runtime_forms
from streamapp_runtime.checkpoint import StateUnreadableError
from streamapp_runtime.checkpoint_entries import CHECKPOINT_ENTRIES, LAYOUT, OUTLIVE_RESET, CheckpointEntry
from tests.harness.repository.checkout import REPOSITORY
from tests.harness.repository.structure import ROOTS

THREE = DurableForm("form", 3, "a file", "a test", "nothing")
LISTS = {
    "streamapp": app_forms,
    "streamapp_operator": operator_forms,
    "streamapp_runtime": runtime_forms,
}
EVERY_FORM = [form for listing in LISTS.values() for form in listing.DURABLE_FORMS]
NUMBERED = re.compile(r"(^|_)(FORMAT|FORM|VERSION)$")
UNNUMBERED = {
    "TERMINATION", "UNSYNCED_FILE", "LOCATION_FILE", "LOCK_HOLDER", "OWNED_STORES", "DRIVER_REFUSAL",
    "APP_REVISION", "SILENT_DRIVER",
}  # fmt: skip
"""The forms without a number: their readers take what they know, and nothing depends on more."""
DRIVER_ENTRIES = [entry for entry in CHECKPOINT_ENTRIES if entry is not LAYOUT]


def modules() -> Iterator[tuple[str, str]]:
    """Every module of the product but the lists, with its text."""
    for package in LISTS:
        for file in sorted(ROOTS[package].rglob("*.py")):
            if not file.name.endswith("durable_forms.py"):
                yield str(file.relative_to(REPOSITORY)), file.read_text("utf-8")


def constants(text: str) -> Iterator[tuple[str, object]]:
    """The names and literal values of a module's constants."""
    for node in ast.parse(text).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant):
            yield target.id, value.value


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_reader_takes_every_version_up_to_its_own(version: int) -> None:
    assert THREE.read_version(version) == version


def test_a_newer_version_is_refused_with_what_to_do() -> None:
    assert THREE.read_version(4) == VersionRefusal(
        Reason.NEWER_FORMAT,
        "the form is written in format 4; this version reads formats 1 to 3",
        UPGRADE_HINT,
    )
    assert "reads version 1" in str(replace(THREE, version=1, number_name="version").read_version(2))


@pytest.mark.parametrize("version", [0, -1, True, "1", 1.0, None])
def test_what_is_no_version_is_damage(version: object) -> None:
    refusal = THREE.read_version(version)
    assert isinstance(refusal, VersionRefusal)
    assert refusal.reason is Reason.DAMAGED_DATA


def test_every_form_says_where_it_lies_who_reads_it_and_what_a_change_needs() -> None:
    assert len({form.name for form in EVERY_FORM}) == len(EVERY_FORM)
    assert all(form.version >= 1 for form in EVERY_FORM)
    assert all(text.strip() for form in EVERY_FORM for text in (form.place, form.readers, form.change))


@pytest.mark.parametrize("package", LISTS)
def test_a_list_holds_every_form_of_its_module(package: str) -> None:
    listing = LISTS[package]
    declared = [value for value in vars(listing).values() if isinstance(value, DurableForm)]
    assert declared == list(listing.DURABLE_FORMS)


def test_no_version_of_a_form_stands_outside_of_the_lists() -> None:
    strays = [
        f"{module}: {name}"
        for module, text in modules()
        for name, value in constants(text)
        if NUMBERED.search(name) and isinstance(value, int)
    ]
    assert strays == []


def test_no_form_and_no_key_of_a_checkpoint_stream_is_declared_elsewhere() -> None:
    strays = [module for module, text in modules() if re.search(r"\bDurableForm\($", text, re.M)]
    strays += [
        module
        for module, text in modules()
        if re.search(r'b"\\(x00|0)[a-z]', text) and not module.endswith("/checkpoint_entries.py")
    ]
    assert strays == []


def test_every_numbered_form_is_checked_by_its_reader() -> None:
    texts = [text for _, text in modules()]
    named = {name for listing in LISTS.values() for name, form in vars(listing).items() if form in EVERY_FORM}
    readers = r"\b{0}\.(?:read_version|version_within)\(|form={0}\b|CheckpointEntry\([^)]*forms\.{0}\b"
    read = {name for name in named for text in texts if re.search(readers.format(name), text)}
    assert named - read == UNNUMBERED | {"PLAN_DOCUMENT"}  # which only programs of users read


def test_keys_of_entries_differ_and_begin_with_a_nul() -> None:
    keys = [entry.key for entry in CHECKPOINT_ENTRIES]
    assert len(set(keys)) == len(keys) == 14
    assert all(key.startswith(b"\x00") for key in keys)
    assert {b"\x00driver", b"\x00owner", b"\x00reset", b"\x00writers", b"\x00fence"} == OUTLIVE_RESET


@pytest.mark.parametrize("entry", DRIVER_ENTRIES, ids=lambda entry: entry.form.name)
@pytest.mark.parametrize("value", [b"", b"\xff", b'{"torn', b"[]", b"null"])
def test_a_damaged_entry_is_refused_with_its_stream_and_mend(entry: CheckpointEntry, value: bytes) -> None:
    with pytest.raises(
        StateUnreadableError, match=rf"^shop.checkpoint, partition 0: the {entry.form.name}"
    ) as refused:
        entry.read({entry.key: value}, "shop.checkpoint", lambda fields: fields["a field"])
    assert "restore the checkpoint stream" in str(refused.value)


@pytest.mark.parametrize("entry", DRIVER_ENTRIES, ids=lambda entry: entry.form.name)
def test_an_entry_of_a_later_version_is_refused_with_what_to_do(entry: CheckpointEntry) -> None:
    with pytest.raises(StateUnreadableError, match=r"format 2; this version reads format 1; use the version"):
        entry.read({entry.key: b'{"format": 2}'}, "shop.checkpoint", dict)
