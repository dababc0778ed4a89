"""The files of a bundle as they are written, all of them redacted, with an index that says what they are."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from streamapp.spec.redaction import Redaction, redaction_table
from streamapp_operator.cli.support_bundle.bundle_contents import BundleContents, UnreadPart

INDEX: Final = "index.json"
_PUBLIC_FIELDS: Final = frozenset({"image", "name", "namespace", "nodeName", "secretName"})
_NOTE: Final = (
    "Secrets were not read. What the rules hide is written as ***. A secret that no rule knows, such as a "
    "password in a sentence of a log, is not hidden: look through the files before you pass them on."
)


@dataclass(frozen=True, slots=True)
class RedactedBundle:
    """The texts of the files by name, the index among them."""

    texts: Mapping[str, str]
    unread: tuple[UnreadPart, ...]
    hidden: int


def redacted_bundle(contents: BundleContents, *, app: str, namespace: str, made_at: str) -> RedactedBundle:
    """The files with all that is hidden replaced, and the index."""
    documents = [file.content for file in contents.files if not isinstance(file.content, str)]
    redaction = Redaction(documents, {app, namespace, *_public_names(documents)})
    texts = {file.name: _text(redaction, file.content) for file in contents.files}
    unread = tuple(UnreadPart(part.name, redaction.text(part.cause)) for part in contents.unread)
    hidden = {rule: count for rule, count in sorted(redaction.hidden.items()) if count}
    index = {
        "app": app,
        "namespace": namespace,
        "madeAt": made_at,
        "files": [
            {"name": file.name, "bytes": len(texts[file.name].encode()), "content": file.description}
            for file in sorted(contents.files, key=lambda file: file.name)
        ],
        "notRead": [{"name": part.name, "cause": part.cause} for part in unread],
        "redaction": {
            "note": _NOTE,
            "rules": redaction_table(),
            "hidden": hidden,
        },
    }
    return RedactedBundle({**texts, INDEX: _json(index)}, unread, sum(hidden.values()))


def _text(redaction: Redaction, content: Any) -> str:
    return redaction.text(content) if isinstance(content, str) else _json(redaction.redacted(content))


def _json(document: Any) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _public_names(value: Any) -> Iterator[str]:
    """Names of objects and images. A variable may hold one of them, which is hidden nowhere else for that."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key in _PUBLIC_FIELDS and isinstance(each, str):
                yield each
            else:
                yield from _public_names(each)
    elif isinstance(value, list):
        for each in value:
            yield from _public_names(each)
