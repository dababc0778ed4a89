"""What the ConfigMaps of an app say, decoded; one that cannot be read is as good as not there."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from streamapp.jobmodel.unreadable import UnreadableError
from streamapp.protocol import places
from streamapp.protocol.report import Report
from streamapp.protocol.report_codec import decode_report
from streamapp.protocol.wanted import decode_wanted
from streamapp_operator import naming
from streamapp_operator.cluster.kinds import CONFIG_MAP
from streamapp_operator.cluster.labels import ROLE
from streamapp_operator.cluster.manifest import Manifest
from streamapp_operator.facts.facts import Desired
from streamapp_operator.objects.maps import RESET_NONCE, WAS_RESET
from streamapp_operator.objects.owned import INCARNATION, Role, is_owned
from streamapp_operator.objects.snapshot import Snapshot, snapshot_in
from streamapp_operator.world import World


@dataclass(frozen=True, slots=True)
class ConfigMaps:
    """The ConfigMaps of one app."""

    snapshots: tuple[Snapshot, ...]
    unreadable: tuple[str, ...]
    desired: Desired | None
    report: Report | None
    has_report: bool
    locality: Manifest | None


async def config_maps(world: World, app: Manifest, found: Iterable[Manifest]) -> ConfigMaps:
    """Decode them. Those of another app that had the same name do not count."""
    name = app["metadata"]["name"]
    mine = {one["metadata"]["name"]: one for one in found if is_owned(one, app)}
    snapshots, unreadable = [], []
    for each, manifest in mine.items():
        if manifest["metadata"]["labels"].get(ROLE) == Role.ACCEPTED:
            snapshot = await _snapshot(world, manifest)
            if snapshot is None:
                unreadable.append(each)
            else:
                snapshots.append(snapshot)
    desired, report = mine.get(naming.job_model(name)), mine.get(naming.report(name))
    locality = mine.get(naming.locality(name))
    return ConfigMaps(
        snapshots=tuple(sorted(snapshots, key=lambda one: one.generation)),
        unreadable=tuple(sorted(unreadable)),
        desired=await _desired(world, desired) if desired else None,
        report=await _report(world, report) if report else None,
        has_report=report is not None,
        locality=await _whole(world, locality) if locality else None,
    )


async def _snapshot(world: World, manifest: Manifest) -> Snapshot | None:
    metadata = manifest["metadata"]
    key = (metadata["uid"], repr(metadata.get("annotations")))
    known = world.snapshots.find(key)
    if known is None:
        known = snapshot_in(await _whole(world, manifest))
        world.snapshots.put(key, known)
    return known


async def _desired(world: World, manifest: Manifest) -> Desired | None:
    key = _version(manifest)
    known = world.desires.find(key)
    if known is None:
        known = _decoded(await _whole(world, manifest))
        world.desires.put(key, known)
    return known


def _decoded(manifest: Manifest) -> Desired | None:
    text = (manifest.get("data") or {}).get(places.WANTED, "")
    notes: Mapping[str, str] = manifest["metadata"].get("annotations") or {}
    try:
        wanted = decode_wanted(text)
    except UnreadableError:
        return None
    accepted = (manifest.get("data") or {}).get(places.ACCEPTED, "")
    return Desired(
        wanted, text, accepted, _number(notes, RESET_NONCE), _number(notes, INCARNATION), WAS_RESET in notes
    )


def _number(notes: Mapping[str, str], name: str) -> int:
    text = notes.get(name, "")
    return int(text) if text.isdecimal() else 0


async def _report(world: World, manifest: Manifest) -> Report | None:
    key = _version(manifest)
    known = world.reports.find(key)
    if known is None:
        known = _told(await _whole(world, manifest))
        world.reports.put(key, known)
    return known


def _told(manifest: Manifest) -> Report | None:
    text = (manifest.get("data") or {}).get(places.REPORT)
    try:
        return decode_report(text) if text else None
    except UnreadableError:
        return None


async def _whole(world: World, manifest: Manifest) -> Manifest:
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
