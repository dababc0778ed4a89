"""Colours for terminals; the text is the same with and without colours."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours a text where `on`. Texts are padded before they are painted: escapes take no room."""

    on: bool

    def bold(self, text: str) -> str:
        """For headings and names."""
        return self._with("1", text)

    def dim(self, text: str) -> str:
        """For secondary text."""
        return self._with("2", text)

    def good(self, text: str) -> str:
        """For counts that agree."""
        return self._with("32", text)

    def bad(self, text: str) -> str:
        """For errors."""
        return self._with("1;31", text)

    def _with(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.on and text else text
