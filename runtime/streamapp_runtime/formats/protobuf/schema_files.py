"""The files of a registry's Protobuf schema: as text, or as the descriptors that some clients register.

Texts are compiled by protoc, in a process of its own: it ends where it is given what it cannot take, and says
why only to its standard error.
"""

import re
import subprocess
import sys
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError

from streamapp_runtime.registered_schema import SchemaCompilerError, SchemaDependency

_OWN_NAME: Final = "_record.proto"
_COMPILER_SECONDS: Final = 60
_LONGEST_COMPLAINT: Final = 200
_FILE_NAME: Final = re.compile(r"(?!.*\.\.)[\w][\w./+-]*")
_WELL_KNOWN: Final = (
    *("any", "api", "descriptor", "duration", "empty", "field_mask"),
    *("source_context", "struct", "timestamp", "type", "wrappers"),
)
_OF_REGISTRIES: Final = {
    "confluent/meta.proto": """
        syntax = "proto3";
        package confluent;
        import "google/protobuf/descriptor.proto";
        message Meta { string doc = 1; map<string, string> params = 2; repeated string tags = 3; }
        extend google.protobuf.FileOptions { Meta file_meta = 1088; }
        extend google.protobuf.MessageOptions { Meta message_meta = 1088; }
        extend google.protobuf.FieldOptions { Meta field_meta = 1088; }
        extend google.protobuf.EnumOptions { Meta enum_meta = 1088; }
        extend google.protobuf.EnumValueOptions { Meta enum_value_meta = 1088; }
    """,
    "confluent/type/decimal.proto": """
        syntax = "proto3";
        package confluent.type;
        message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }
    """,
}
"""Files that Confluent's registry has without being given them."""


class MalformedSchemaError(ValueError):
    """The registered text is no Protobuf schema, or lacks a file; the message has the compiler's words."""


def schema_file(text: str, dependencies: Sequence[SchemaDependency]) -> FileDescriptor:
    """The file of a schema, linked with those that it imports.

    MalformedSchemaError where it is none, SchemaCompilerError where nobody can say.
    """
    name = _OWN_NAME
    texts = dict(_OF_REGISTRIES)
    files: dict[str, FileDescriptorProto] = {}
    for each in (*dependencies, SchemaDependency(_OWN_NAME, text)):
        compiled = _descriptor(each.text)
        if compiled is None:
            texts[_checked(each.name)] = each.text
        elif each.name == _OWN_NAME:
            name = compiled.name
            files[name] = compiled
        else:
            compiled.name = each.name
            files[each.name] = compiled
    if texts.keys() != _OF_REGISTRIES.keys():
        files |= _compiled(texts, files.values())
    return _linked(name, files)


def _descriptor(text: str) -> FileDescriptorProto | None:
    """The descriptor that a schema is in base64; None where it is a text, whose signs base64 has not."""
    try:
        return FileDescriptorProto.FromString(b64decode(text, validate=True))
    except (Base64Error, ValueError, DecodeError):
        return None


def _checked(name: str) -> str:
    if not _FILE_NAME.fullmatch(name):
        raise MalformedSchemaError(f'it imports a file of the name "{name}"')
    return name


def _compiled(
    texts: Mapping[str, str], known: Iterable[FileDescriptorProto]
) -> dict[str, FileDescriptorProto]:
    """The descriptors of all texts, and of what they import, by the names of the files."""
    with TemporaryDirectory() as folder:
        sources, output = Path(folder, "sources"), Path(folder, "output")
        for name, text in texts.items():
            path = sources / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        descriptors = Path(folder, "descriptors")
        descriptors.write_bytes(FileDescriptorSet(file=known).SerializeToString())
        command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{sources}"]
        options = [
            f"--descriptor_set_in={descriptors}",
            "--include_imports",
            f"--descriptor_set_out={output}",
        ]
        try:
            run = subprocess.run(  # noqa: S603
                [*command, *options, *texts],
                capture_output=True,
                text=True,
                check=False,
                timeout=_COMPILER_SECONDS,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise SchemaCompilerError(f"protoc cannot be run: {error}") from error
        if run.returncode != 0:
            raise MalformedSchemaError(run.stderr.strip().replace(f"{_OWN_NAME}:", "")[:_LONGEST_COMPLAINT])
        return {each.name: each for each in FileDescriptorSet.FromString(output.read_bytes()).file}


def _linked(name: str, files: Mapping[str, FileDescriptorProto]) -> FileDescriptor:
    pool, added = DescriptorPool(), set[str]()

    def add(name: str) -> None:
        if name in added:
            return
        added.add(name)
        each = files.get(name) or _well_known(name)
        for needed in each.dependency:
            add(needed)
        pool.AddSerializedFile(each.SerializeToString())

    try:
        add(name)
        return pool.FindFileByName(name)
    except (TypeError, KeyError) as unlinked:
        raise MalformedSchemaError(str(unlinked)) from None


def _well_known(name: str) -> FileDescriptorProto:
    """A file that the library itself has."""
    stem = name.removeprefix("google/protobuf/").removesuffix(".proto")
    if stem not in _WELL_KNOWN:
        raise MalformedSchemaError(f'it imports "{name}", which it does not refer to')
    copied = FileDescriptorProto()
    import_module(f"google.protobuf.{stem}_pb2").DESCRIPTOR.CopyToProto(copied)
    return copied
