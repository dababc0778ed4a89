"""What the ConfigMaps of an app say, decoded; one that cannot be read is as good as not there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.protocol import message_names
from streamapp.protocol.driver_report import Report
from streamapp.protocol.report_codec import decode_report
from streamapp.protocol.wanted_state import decode_wanted
from streamapp_operator.controller.client.labels import ROLE_LABEL
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.controller.client.resource_kinds import CONFIG_MAP
from streamapp_operator.reconciler.config_maps.accepted_generation import AcceptedGeneration, read_generation
from streamapp_operator.reconciler.config_maps.config_map_objects import RESET_NONCE, WAS_RESET
from streamapp_operator.reconciler.facts.facts import DesiredModel
from streamapp_operator.reconciler.facts.reconcile_context import ReconcileContext
from streamapp_operator.reconciler.objects import object_names
from streamapp_operator.reconciler.objects.object_metadata import INCARNATION_LABEL, ObjectRole, is_owned


@dataclass(frozen=True, slots=True)
class DecodedConfigMaps:
    """The ConfigMaps of one app."""

    snapshots: tuple[AcceptedGeneration, ...]
    unreadable: tuple[str, ...]
    desired: DesiredModel | None
    report: Report | None
    has_report: bool
    locality: Manifest | None


async def decode_config_maps(
    world: ReconcileContext, app: Manifest, found: Iterable[Manifest]
) -> DecodedConfigMaps:
    """Decode them. Those of another app that had the same name do not count."""
    name = app["metadata"]["name"]
    mine = {one["metadata"]["name"]: one for one in found if is_owned(one, app)}
    snapshots, unreadable = [], []
    for each, manifest in mine.items():
        if manifest["metadata"]["labels"].get(ROLE_LABEL) == ObjectRole.ACCEPTED:
            snapshot = await _snapshot(world, manifest)
            if snapshot is None:
                unreadable.append(each)
            else:
                snapshots.append(snapshot)
    desired, report = mine.get(object_names.job_model(name)), mine.get(object_names.report(name))
    locality = mine.get(object_names.locality(name))
    return DecodedConfigMaps(
        snapshots=tuple(sorted(snapshots, key=lambda one: one.generation)),
        unreadable=tuple(sorted(unreadable)),
        desired=await _desired(world, desired) if desired else None,
        report=await _report(world, report) if report else None,
        has_report=report is not None,
        locality=await _whole(world, locality) if locality else None,
    )


async def _snapshot(world: ReconcileContext, manifest: Manifest) -> AcceptedGeneration | None:
    metadata = manifest["metadata"]
    key = (metadata["uid"], repr(metadata.get("annotations")))
    known = world.snapshots.find(key)
    if known is None:
        known = read_generation(await _whole(world, manifest))
        world.snapshots.put(key, known)
    return known


async def _desired(world: ReconcileContext, manifest: Manifest) -> DesiredModel | None:
    key = _version(manifest)
    known = world.desires.find(key)
    if known is None:
        known = _decoded(await _whole(world, manifest))
        world.desires.put(key, known)
    return known


def _decoded(manifest: Manifest) -> DesiredModel | None:
    text = (manifest.get("data") or {}).get(message_names.WANTED, "")
    notes: Mapping[str, str] = manifest["metadata"].get("annotations") or {}
    try:
        wanted = decode_wanted(text)
    except UnreadableError:
        return None
    accepted = (manifest.get("data") or {}).get(message_names.ACCEPTED, "")
    return DesiredModel(
        wanted,
        text,
        accepted,
        _number(notes, RESET_NONCE),
        _number(notes, INCARNATION_LABEL),
        WAS_RESET in notes,
    )


def _number(notes: Mapping[str, str], name: str) -> int:
    text = notes.get(name, "")
    return int(text) if text.isdecimal() else 0


async def _report(world: ReconcileContext, manifest: Manifest) -> Report | None:
    key = _version(manifest)
    known = world.reports.find(key)
    if known is None:
        known = _told(await _whole(world, manifest))
        world.reports.put(key, known)
    return known


def _told(manifest: Manifest) -> Report | None:
    text = (manifest.get("data") or {}).get(message_names.REPORT)
    try:
        return decode_report(text) if text else None
    except UnreadableError:
        return None


async def _whole(world: ReconcileContext, manifest: Manifest) -> Manifest:
    """With its data, which the cache leaves out where it is large."""
    if "data" in manifest or "binaryData" in manifest:
        return manifest
    key = _version(manifest)
    known = world.whole.find(key)
    if known is not None:
        return known
    metadata = manifest["metadata"]
    read = await world.cluster.read(CONFIG_MAP, metadata["namespace"], metadata["name"])
    if read is not None and _version(read) == key:
        world.whole.put(key, read)
    return read or manifest


def _version(manifest: Manifest) -> tuple[str, str]:
    metadata = manifest["metadata"]
    return metadata["uid"], metadata["resourceVersion"]
