"""The life of an app as a picture: phases as boxes, the ways between them as arrows."""

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
_ACROSS, _DOWN = 280, 110
_WIDE, _HIGH, _EDGE = 112, 36, 20
_LETTER = 6.6

_STYLE = (
    "text{font:13px system-ui,sans-serif;text-anchor:middle;dominant-baseline:central}"
    ".phase{fill:#e8eaf6;stroke:#5c6bc0}.name{fill:#1a237e}.when{fill:#78909c;font-size:12px}"
    ".way{stroke:#90a4ae;stroke-width:1.5;fill:none}.head{fill:#90a4ae}"
)


def phase_diagram() -> str:
    """An SVG document."""
    wide = int(max(x for x, _ in PHASE_POSITIONS.values()) * _ACROSS + _WIDE + 2 * _EDGE)
    high = int(max(y for _, y in PHASE_POSITIONS.values()) * _DOWN + _HIGH + 2 * _EDGE)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" role="img" '
        'aria-label="The life of an app"><title>The life of an app</title>'
    )
    arrow = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path class="head" d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    parts = [head, f"<style>{_STYLE}</style>", arrow]
    parts += [line for way in PHASE_TRANSITIONS for line in _arrow(way)]
    parts += [line for phase in Phase for line in _box(phase)]
    return "\n".join([*parts, "</svg>", ""])


def _centre(phase: Phase) -> tuple[float, float]:
    column, row = PHASE_POSITIONS[phase]
    return column * _ACROSS + _WIDE / 2 + _EDGE, row * _DOWN + _HIGH / 2 + _EDGE


def _box(phase: Phase) -> Iterator[str]:
    x, y = _centre(phase)
    corner = f'x="{x - _WIDE / 2:g}" y="{y - _HIGH / 2:g}"'
    yield f'<rect class="phase" {corner} width="{_WIDE}" height="{_HIGH}" rx="8"/>'
    yield f'<text class="name" x="{x:g}" y="{y:g}">{phase}</text>'


def _arrow(way: PhaseTransition) -> Iterator[str]:
    from_, to = _centre(way.before), _centre(way.after)
    start, end = _border(from_, to), _border(to, from_)
    ends = f'x1="{start[0]:g}" y1="{start[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}"'
    yield f'<line class="way" {ends} marker-end="url(#head)"/>'
    x, y = (start[0] + end[0]) / 2, (start[1] + end[1]) / 2
    level = abs(from_[1] - to[1]) < 1
    beside = len(way.when) * _LETTER / 2 + 10
    left = to[0] < from_[0] or (to[0] == from_[0] and to[1] < from_[1])
    aside = 0 if level else -beside if left else beside
    yield f'<text class="when" x="{x + aside:.0f}" y="{y - 10 * level:g}">{way.when}</text>'


def _border(of: tuple[float, float], towards: tuple[float, float]) -> tuple[float, float]:
    """Where a line from the centre of a box leaves it."""
    across, down = towards[0] - of[0], towards[1] - of[1]
    shares = [_WIDE / 2 / abs(across)] if across else []
    shares += [_HIGH / 2 / abs(down)] if down else []
    share = min(shares)
    return round(of[0] + across * share, 1), round(of[1] + down * share, 1)
