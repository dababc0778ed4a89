"""The locality of a run, as its ConfigMap holds it; empty where the ConfigMap cannot be read."""

from dataclasses import dataclass

from streamapp.metadata.locality_manager import LocalityManager
from streamapp_operator.controller.client.manifest import Manifest
from streamapp_operator.reconciler.config_maps.config_map_store import ConfigMapStore
from streamapp_operator.reconciler.config_maps.locality_draft import LocalityDraft


@dataclass(frozen=True, slots=True)
class KnownLocality:
    """The locality of one run, with a draft of its changes."""

    draft: LocalityDraft
    manager: LocalityManager
    problem: str = ""  # why the ConfigMap cannot be read; empty where it can


def known_locality(observed: Manifest | None, run_id: str) -> KnownLocality:
    """The locality of a run. Placement prefers what it says and needs nothing of it."""
    locality = _locality(observed, run_id)
    try:
        locality.manager.read_task_locality()
        locality.manager.read_processor_locality()
    except ValueError as error:  # damaged, of a later version, or no base64
        empty = _locality(None, run_id)
        return KnownLocality(empty.draft, empty.manager, str(error))
    return locality


def _locality(observed: Manifest | None, run_id: str) -> KnownLocality:
    draft = LocalityDraft(observed)
    return KnownLocality(draft, LocalityManager(ConfigMapStore(draft), run_id))
