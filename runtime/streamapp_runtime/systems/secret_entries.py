"""The entries of a Secret as a process finds them: a folder that it is mounted at, or a file of lines."""

from pathlib import Path

from streamapp_runtime.systems.stream_system import InvalidSettingsError


def secret_entries(place: Path) -> dict[str, str]:
    """The entries in a folder, a file each, named by its key; or in one file of lines like `key=value`."""
    try:
        return _of_folder(place) if place.is_dir() else _of_lines(place)
    except OSError as error:
        raise InvalidSettingsError(f"{place}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InvalidSettingsError(f"{place}: not all of it is text") from None


def _of_folder(folder: Path) -> dict[str, str]:
    # A mounted Secret is a folder of links, beside a hidden one that they lead into.
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    return {path.name: path.read_text(encoding="utf-8").rstrip("\n") for path in files}


def _of_lines(file: Path) -> dict[str, str]:
    secrets = {}
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        key, equals, value = text.partition("=")
        if not equals:
            raise InvalidSettingsError(f"{file}: line {number} is not like key=value")
        secrets[key.strip()] = value.strip().replace("\\n", "\n")
    return secrets
