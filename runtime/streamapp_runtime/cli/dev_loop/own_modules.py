"""The files of the app's own Python: those that were imported, and those that an import failed with."""

import sys
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from itertools import chain
from pathlib import Path
from types import ModuleType

from streamapp.installed_code import is_installed
from streamapp.internal_fault import OWN_PACKAGES


class OwnModules(MetaPathFinder):
    """The modules imported since this was made, without packages that are installed.

    It is a finder before all others, so that it is asked for each module, whatever comes of it.
    """

    def __init__(self, folder: Path) -> None:
        """Begin to listen; `folder` is where the app's own modules are looked for."""
        self._folder = folder
        self._before = frozenset(sys.modules)
        self._asked: dict[str, tuple[Path, ...]] = {}  # by module that is the app's own, if it is any
        sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Note where the module would have to be, and find nothing."""
        stem = fullname.rpartition(".")[2]
        folders = [self._folder] if path is None else map(Path, path)
        self._asked[fullname] = tuple(
            file
            for folder in folders
            if not is_installed(folder)
            for file in (folder / f"{stem}.py", folder / stem / "__init__.py")
        )
        return None

    def files(self) -> tuple[Path, ...]:
        """The files to watch."""
        failed = (files for name, files in self._asked.items() if name not in sys.modules)
        return (*self._imported(), *dict.fromkeys(chain.from_iterable(failed)))

    def _imported(self) -> Iterator[Path]:
        for name in sorted(sys.modules.keys() - self._before):
            if name.partition(".")[0] in OWN_PACKAGES:
                continue
            file = getattr(sys.modules[name], "__file__", None)
            if isinstance(file, str) and file.endswith(".py") and not is_installed(Path(file)):
                yield Path(file)
