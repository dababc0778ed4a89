"""The colours of the drawn forms by purpose, light and dark."""

_LIGHT = {
    "ground": "#ffffff",
    "panel": "#f6f8fa",
    "ink": "#1f2328",
    "muted": "#59636e",
    "border": "#d1d9e0",
    "edge": "#8b949e",
    "stream": "#e1f0ff",
    "stream-line": "#2f7fd6",
    "made": "#dcf5ee",
    "made-line": "#16866f",
    "table": "#f1e8fd",
    "table-line": "#8250df",
    "operator": "#ffffff",
    "operator-line": "#8b949e",
    "join": "#f6f8fa",
    "join-line": "#424a53",
    "good": "#1a7f37",
    "fail": "#cf222e",
    "fail-ground": "#ffebe9",
    "on-line": "#ffffff",
}
_DARK = {
    "ground": "#0d1117",
    "panel": "#151b23",
    "ink": "#f0f6fc",
    "muted": "#9198a1",
    "border": "#3d444d",
    "edge": "#6e7681",
    "stream": "#0f2b4a",
    "stream-line": "#4c9bf5",
    "made": "#0c312a",
    "made-line": "#3fb69c",
    "table": "#2b1d4b",
    "table-line": "#ab7df8",
    "operator": "#161b22",
    "operator-line": "#6e7681",
    "join": "#212830",
    "join-line": "#b7bdc8",
    "good": "#3fb950",
    "fail": "#ff6a63",
    "fail-ground": "#4b1214",
    "on-line": "#0d1117",
}
SANS = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','Helvetica Neue',Arial,sans-serif"
MONO = "ui-monospace,SFMono-Regular,'SF Mono',Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"


def variables(selector: str) -> str:
    """The colours as CSS variables of a selector, following what the reader prefers."""
    light, dark = (
        ";".join(f"--{name}:{colour}" for name, colour in colours.items()) for colours in (_LIGHT, _DARK)
    )
    return (
        f"{selector}{{color-scheme:light dark;{light}}}"
        f"@media (prefers-color-scheme:dark){{{selector}{{{dark}}}}}"
    )
