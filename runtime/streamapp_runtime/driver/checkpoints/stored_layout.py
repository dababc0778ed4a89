"""What an app has left with its streams, for who only wants to know: nothing is taken over, or waited for."""

from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.layout_codec import decode_layout
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.checkpoint import DRIVER_KEY
from streamapp_runtime.driver.checkpoints.checkpoint_stream import LAYOUT, LayoutUnreadableError
from streamapp_runtime.incarnation import decode_incarnation
from streamapp_runtime.systems.stream_system import StreamSystem


def stored_layout(system: StreamSystem, checkpoints: str) -> tuple[Layout | None, str]:
    """The layout and the run that lie in this checkpoint stream; none where no driver has been."""
    if system.partitions(checkpoints) is None:
        return None, ""
    found = system.latest(checkpoints, settled=False)
    run = decode_incarnation(found.get(DRIVER_KEY)).run_id
    text = found.get(LAYOUT)
    if text is None:
        return None, run
    layout = decode_layout(text.decode(errors="replace"))
    if isinstance(layout, Refusal):
        raise LayoutUnreadableError(f"{checkpoints}, partition 0: {layout}")
    return layout, run
