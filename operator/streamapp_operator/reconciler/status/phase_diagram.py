"""The diagram of an app's life: phases as boxes, transitions as arrows."""

from collections.abc import Iterator, Mapping

from streamapp_operator.reconciler.status.phase import Phase
from streamapp_operator.reconciler.status.phase_transitions import PHASE_TRANSITIONS, PhaseTransition

PHASE_POSITIONS: Mapping[Phase, tuple[float, float]] = {
    Phase.PENDING: (0, 1),
    Phase.REJECTED: (0, 2),
    Phase.LAUNCHING: (1, 1),
    Phase.RUNNING: (2, 1),
    Phase.BACKING_OFF: (1.5, 0),
    Phase.RESTARTING: (1.5, 2),
    Phase.SUSPENDED: (1, 3),
    Phase.SUSPENDING: (2, 3),
    Phase.COMPLETED: (3, 1),
    Phase.FAILED: (3, 0),
}
"""Columns and rows."""
_COLUMN_WIDTH, _ROW_HEIGHT = 280, 110
_BOX_WIDTH, _BOX_HEIGHT, _MARGIN = 112, 36, 20
_LETTER_WIDTH = 6.6

_STYLE = (
    "text{font:13px system-ui,sans-serif;text-anchor:middle;dominant-baseline:central}"
    ".phase{fill:#e8eaf6;stroke:#5c6bc0}.name{fill:#1a237e}.when{fill:#78909c;font-size:12px}"
    ".way{stroke:#90a4ae;stroke-width:1.5;fill:none}.head{fill:#90a4ae}"
    "@media (prefers-color-scheme:dark){.phase{fill:#1f2540;stroke:#7986cb}.name{fill:#c5cae9}"
    ".when{fill:#b0bec5}}"
)


def phase_diagram() -> str:
    """An SVG document."""
    width = int(max(x for x, _ in PHASE_POSITIONS.values()) * _COLUMN_WIDTH + _BOX_WIDTH + 2 * _MARGIN)
    height = int(max(y for _, y in PHASE_POSITIONS.values()) * _ROW_HEIGHT + _BOX_HEIGHT + 2 * _MARGIN)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-label="The life of an app"><title>The life of an app</title>'
    )
    arrow = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    parts = [head, f"<style>{_STYLE}</style>", arrow]
    parts += [line for transition in PHASE_TRANSITIONS for line in _arrow(transition)]
    parts += [line for phase in Phase for line in _box(phase)]
    return "\n".join([*parts, "</svg>", ""])


def _centre(phase: Phase) -> tuple[float, float]:
    column, row = PHASE_POSITIONS[phase]
    return column * _COLUMN_WIDTH + _BOX_WIDTH / 2 + _MARGIN, row * _ROW_HEIGHT + _BOX_HEIGHT / 2 + _MARGIN


def _box(phase: Phase) -> Iterator[str]:
    x, y = _centre(phase)
    corner = f'x="{x - _BOX_WIDTH / 2:g}" y="{y - _BOX_HEIGHT / 2:g}"'
    yield f'<rect class="phase" {corner} width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="8"/>'
    yield f'<text class="name" x="{x:g}" y="{y:g}">{phase}</text>'


def _arrow(transition: PhaseTransition) -> Iterator[str]:
    from_, to = _centre(transition.before), _centre(transition.after)
    start, end = _border(from_, to), _border(to, from_)
    ends = f'x1="{start[0]:g}" y1="{start[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}"'
    yield f'<line class="way" {ends} marker-end="url(#head)"/>'
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    level = abs(from_[1] - to[1]) < 1
    beside = len(transition.when) * _LETTER_WIDTH / 2 + 10
    left = to[0] < from_[0] or (to[0] == from_[0] and to[1] < from_[1])
    aside = 0 if level else -beside if left else beside
    yield f'<text class="when" x="{x + aside:.0f}" y="{y - 10 * level:g}">{transition.when}</text>'


def _border(centre: tuple[float, float], towards: tuple[float, float]) -> tuple[float, float]:
    """The point where a line from a box's centre crosses its border."""
    across, down = towards[0] - centre[0], towards[1] - centre[1]
    shares = [_BOX_WIDTH / 2 / abs(across)] if across else []
    shares += [_BOX_HEIGHT / 2 / abs(down)] if down else []
    share = min(shares)
    return round(centre[0] + across * share, 1), round(centre[1] + down * share, 1)
