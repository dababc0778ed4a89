"""Opens a system of streams for a command, and reports errors in one line."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from streamapp.cli.output_option import UnreachableError
from streamapp.spec.problem import nearest

if TYPE_CHECKING:
    from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem
    from streamapp_runtime.systems.stream_system import StreamSystem


def has_log(folder: Path) -> bool:
    """True if there is a log in a folder."""
    from streamapp_runtime.systems.connection import EmbeddedConnection

    return EmbeddedConnection(str(folder)).has_log


@contextmanager
def open_log(data: Path, make: bool = False) -> Iterator["EmbeddedSystem"]:
    """The log in a folder, which has to be one already unless it may be made."""
    from streamapp_runtime.systems.embedded.embedded_system import EmbeddedSystem

    if not make and not has_log(data):
        raise click.ClickException(
            f"no log in {data}; `streamapp log create` and `streamapp log write` make one"
        )
    system = EmbeddedSystem(data)
    try:
        yield system
    finally:
        system.close()


@contextmanager
def cli_errors() -> Iterator[None]:
    """Turn what a system refuses into a message; end quietly where user or reader of the output left."""
    from streamapp_runtime.checkpoint import StateUnreadableError
    from streamapp_runtime.driver.app_refusal import AppRefusedError
    from streamapp_runtime.registered_schema import SchemaCompilerError, UnknownSchemaError
    from streamapp_runtime.rows.lines import UnusableLineError
    from streamapp_runtime.stores.store import StoreError
    from streamapp_runtime.systems.stream_system import (
        InvalidSettingsError,
        OutOfRangeError,
        UnavailableError,
        UnknownStreamError,
    )

    try:
        yield
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except (UnavailableError, SchemaCompilerError) as error:
        raise UnreachableError(str(error)) from None
    except (
        ValueError,
        OutOfRangeError,
        AppRefusedError,
        InvalidSettingsError,
        StateUnreadableError,
        StoreError,
        UnknownSchemaError,
        UnknownStreamError,
        UnusableLineError,
    ) as error:
        raise click.ClickException(str(error)) from None


def partition_count(system: "StreamSystem", stream: str) -> int:
    """The number of partitions of a stream, which has to be there."""
    streams = system.streams()
    if stream not in streams:
        raise click.ClickException(f'no stream named "{stream}"{nearest(stream, list(streams))}')
    return streams[stream]
