"""Decodes the ConfigMaps of an app; an unreadable one counts as absent."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from typing import Final, TypeVar

from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.protocol import message_names
from streamapp.protocol.driver_report import Report
from streamapp.protocol.message_names import INCARNATION
from streamapp.protocol.report_codec import decode_report
from streamapp.protocol.silent_driver import silent_driver_of
from streamapp.protocol.wanted_state import decode_wanted
from streamapp_operator.controller.client.labels import ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP
from streamapp_operator.controller.watch.cached_fields import foreign_write_time
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration, read_generation
from streamapp_operator.reconciler.config_maps.config_map_objects import RESET_NONCE, WAS_RESET
from streamapp_operator.reconciler.facts.facts import DesiredModel, PublishedRun
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.facts.timestamps import parse_timestamp
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import ObjectRole, is_owned
from streamapp_operator.reconciler.result_caches import RecentResults

T = TypeVar("T")

LARGE_CHARACTERS: Final = 65_536


async def read_run(context: ReconcileContext, app: Manifest, manifests: Iterable[Manifest]) -> PublishedRun:
    """Decode an app's ConfigMaps, without those of a deleted app that had the same name."""
    name = app["metadata"]["name"]
    owned = {manifest["metadata"]["name"]: manifest for manifest in manifests if is_owned(manifest, app)}
    generations, unreadable = [], []
    for config_map_name, manifest in owned.items():
        if manifest["metadata"]["labels"].get(ROLE_LABEL) == ObjectRole.ACCEPTED:
            accepted = await _generation(context, manifest)
            if accepted is None:
                unreadable.append(config_map_name)
            else:
                generations.append(accepted)
    desired, report = owned.get(object_names.job_model(name)), owned.get(object_names.report(name))
    locality = owned.get(object_names.locality(name))
    return PublishedRun(
        generations=tuple(sorted(generations, key=lambda accepted: accepted.generation)),
        unreadable=tuple(sorted(unreadable)),
        desired=await _desired(context, desired) if desired else None,
        report=await _report(context, report) if report else None,
        has_report=report is not None,
        locality=await _with_data(context, locality) if locality else None,
        reported_at=parse_timestamp(foreign_write_time(report)) if report else None,
        silent_driver=silent_driver_of(report["metadata"].get("annotations") or {}) if report else None,
    )


async def _decoded(
    context: ReconcileContext,
    manifest: Manifest,
    key: Hashable,
    cache: RecentResults[T | None],
    decode: Callable[[Manifest], Awaitable[T | None]],
) -> T | None:
    """The content of a ConfigMap, decoded again where the key is another, or nothing could be read."""
    value = cache.peek(key)
    if value is None:
        complete = await _with_data(context, manifest)
        value = await decode(complete)
        cache.put(key, value, _size(complete))
    return value


async def _generation(context: ReconcileContext, manifest: Manifest) -> AcceptedGeneration | None:
    metadata = manifest["metadata"]
    key = (metadata["uid"], repr(metadata.get("annotations")))
    return await _decoded(context, manifest, key, context.decoded.generations, _read_generation)


async def _desired(context: ReconcileContext, manifest: Manifest) -> DesiredModel | None:
    return await _decoded(
        context,
        manifest,
        _version(manifest),
        context.decoded.models,
        lambda complete: asyncio.to_thread(_decode_desired, complete),
    )


def _decode_desired(manifest: Manifest) -> DesiredModel | None:
    text = (manifest.get("data") or {}).get(message_names.WANTED, "")
    annotations: Mapping[str, str] = manifest["metadata"].get("annotations") or {}
    try:
        wanted = decode_wanted(text)
    except UnreadableError:
        return None
    data: Mapping[str, str] = manifest.get("data") or {}
    return DesiredModel(
        wanted,
        text,
        data.get(message_names.ACCEPTED, ""),
        _number(annotations, RESET_NONCE),
        _number(annotations, INCARNATION),
        WAS_RESET in annotations,
        data.get(message_names.CANDIDATE, ""),
    )


def _number(annotations: Mapping[str, str], name: str) -> int:
    text = annotations.get(name, "")
    return int(text) if text.isdecimal() else 0


async def _report(context: ReconcileContext, manifest: Manifest) -> Report | None:
    return await _decoded(
        context,
        manifest,
        _version(manifest),
        context.decoded.reports,
        lambda complete: asyncio.to_thread(_decode_report, complete),
    )


def _decode_report(manifest: Manifest) -> Report | None:
    text = (manifest.get("data") or {}).get(message_names.REPORT)
    try:
        return decode_report(text) if text else None
    except UnreadableError:
        return None


async def _with_data(context: ReconcileContext, manifest: Manifest) -> Manifest:
    """The ConfigMap with its data, which the cache drops where they are large."""
    if "data" in manifest or "binaryData" in manifest:
        return manifest
    key = _version(manifest)
    complete = context.decoded.config_maps.peek(key)
    if complete is not None:
        return complete
    metadata = manifest["metadata"]
    current = await context.cluster.read(CONFIG_MAP, metadata["namespace"], metadata["name"])
    if current is not None and _version(current) == key:
        context.decoded.config_maps.put(key, current, _size(current))
    return current or manifest


async def _read_generation(manifest: Manifest) -> AcceptedGeneration | None:
    """The accepted generation; a large one on a thread, so that other apps are served meanwhile.

    Models and reports are always decoded there: 9 kB hold 40,000 tasks, and take half a second.
    """
    if _size(manifest) <= LARGE_CHARACTERS:
        return read_generation(manifest)
    return await asyncio.to_thread(read_generation, manifest)


def _size(manifest: Manifest) -> int:
    """The number of characters of a ConfigMap's data."""
    texts = (*(manifest.get("data") or {}).values(), *(manifest.get("binaryData") or {}).values())
    return sum(map(len, texts))


def _version(manifest: Manifest) -> tuple[str, str]:
    metadata = manifest["metadata"]
    return metadata["uid"], metadata["resourceVersion"]
