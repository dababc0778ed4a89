"""The locations of tasks, remembered from one run to the next: they save work, and decide nothing."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from streamapp.jobmodel.compact_codec import decode_model, encode_model
from streamapp.jobmodel.job_model import JobModel
from streamapp.jobmodel.unreadable_data import UnreadableError
from streamapp.metadata.file_store import FileMetadataStore
from streamapp.metadata.locality_manager import LocalityManager
from streamapp.metadata.metadata_store import MetadataStore

_MODEL = b"model/"


@dataclass(frozen=True, slots=True)
class RememberedPlacement:
    """The locations that tasks had, and the model by which they had them."""

    model: JobModel | None = None
    tasks: Mapping[str, str | None] = field(default_factory=dict)  # task -> location

    @property
    def processors(self) -> dict[str, str]:
        """Task -> processor."""
        model = self.model
        return {} if model is None else {task.name: model.owner(task.name) for task in model.tasks}


@dataclass(frozen=True, slots=True)
class LocalityMemory:
    """The memory of one app."""

    store: MetadataStore
    location: str | None  # the location of all processors of this machine

    @classmethod
    def in_folder(cls, folder: Path, location: str | None) -> "LocalityMemory":
        """Kept in a folder, which is made."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        return cls(FileMetadataStore(folder), location)

    def recall(self, run_id: str) -> RememberedPlacement:
        """The placement that is known of a run; what cannot be read is not known."""
        try:
            packed = self.store.get(_MODEL + run_id.encode())
            model = decode_model(packed) if packed is not None else None
            return RememberedPlacement(model, LocalityManager(self.store, run_id).read_task_locality())
        except UnreadableError:
            return RememberedPlacement()

    def note(self, model: JobModel, locations: Mapping[str, str | None]) -> None:
        """Remember a model that runs, and where its processors are."""
        locality = LocalityManager(self.store, model.run_id)
        locality.write_task_locality(
            {task.name: locations.get(model.owner(task.name)) for task in model.tasks}
        )
        locality.write_processor_locality({name: locations.get(name) for name in model.processors})
        key, packed = _MODEL + model.run_id.encode(), encode_model(model)
        if self.store.get(key) != packed:
            self.store.put(key, packed)
