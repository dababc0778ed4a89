"""The check that an app's streams are those that it knew: another topic may have been made under a name."""

from collections.abc import Collection
from dataclasses import replace

from streamapp.spec.problem import Problem
from streamapp.spec.resource.app import StreamApp
from streamapp.tasks.layouts.layout import Layout
from streamapp.tasks.layouts.split import settled_again
from streamapp_runtime.driver.app_refusal import AppRefusedError
from streamapp_runtime.driver.checkpoints.checkpoint_stream import DATA_LOSS_HINT
from streamapp_runtime.driver.start.app_context import AppContext

RESET_HINT = "raise resetNonce to start the app from scratch"


def verify_identities(
    context: AppContext, streams: Collection[str], changelogs: Collection[str | None], layout: Layout
) -> Layout:
    """Note which streams these are, and the layout to go by, which is written before they are read.

    AppRefusedError where they are others, unless they can be begun anew.
    """
    app, ledger = context.app, context.ledger
    every = {*streams} | {changelog for changelog in changelogs if changelog is not None}
    topic_of = context.systems.connections.label
    identities = {topic_of(stream): one for stream, one in context.systems.identities(every).items()}
    new = ledger.recreated_topics(identities)
    if state := sorted(new.difference(map(topic_of, streams))):
        named = ", ".join(f'"{topic}"' for topic in state)
        raise AppRefusedError([Problem(0, 0, "spec", f"state was lost with changelog {named}; {RESET_HINT}")])
    positions = {partition for read in ledger.positions().values() for partition in read}
    recreated = {stream for stream in streams if topic_of(stream) in new}
    lost = {partition for partition in positions if partition.stream in recreated}
    if lost and app.spec.on_data_loss == "fail":
        raise AppRefusedError(
            [_refused(app, stream, topic_of(stream)) for stream in sorted({p.stream for p in lost})]
        )
    if not new:
        ledger.recognise(identities)
        return layout
    lost |= {partition for partition in ledger.starts if partition.stream in recreated}
    layout = replace(layout, splits=settled_again(layout.splits, recreated, context.now()))
    ledger.forget(lost, layout, identities)
    return layout


def _refused(app: StreamApp, stream: str, topic: str) -> Problem:
    indexes = [index for index, each in enumerate(app.spec.streams) if each.name == stream]
    path = f"spec.streams[{indexes[0]}]" if indexes else "spec"
    return Problem(
        0, 0, path, f'topic "{topic}" was deleted and made again since it was read; {DATA_LOSS_HINT}'
    )
