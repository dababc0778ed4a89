"""A run under an operator, from beginning to end: models are the operator's, batches the driver's."""

import time
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from pyspark.sql import SparkSession

from streamapp.protocol.accepted import Accepted
from streamapp.protocol.report import Report, State, Warned
from streamapp.protocol.wanted import Wanted
from streamapp.spec.durations import milliseconds
from streamapp.tasks.refusal import Refusal
from streamapp_runtime.carriers.carrier import Carrier
from streamapp_runtime.driver.application import begin, opened, serve, tidying
from streamapp_runtime.driver.claim import Claim
from streamapp_runtime.driver.driven import Driven
from streamapp_runtime.driver.failing import TROUBLE, FailedError
from streamapp_runtime.driver.follower import followed
from streamapp_runtime.driver.hearers import Hearers
from streamapp_runtime.driver.home import home_of
from streamapp_runtime.driver.jvm import hush
from streamapp_runtime.driver.launch import Launch, begun
from streamapp_runtime.driver.ledger import Ledger
from streamapp_runtime.driver.loop import Loop
from streamapp_runtime.driver.neighbourhood import Places, nowhere
from streamapp_runtime.driver.own import own_of
from streamapp_runtime.driver.post import Post
from streamapp_runtime.driver.refused import RefusedError
from streamapp_runtime.driver.reset import Reset
from streamapp_runtime.driver.session import close_session, open_shaped_session
from streamapp_runtime.driver.site import Site
from streamapp_runtime.driver.stop import Stopping
from streamapp_runtime.driver.unready import unready
from streamapp_runtime.driver.workforce import ANY, Workforce
from streamapp_runtime.lanes import tables_file
from streamapp_runtime.systems.system import FencedError

MODEL_SECONDS = 300.0
"""How long a driver waits for a model that it can take."""
POLL_SECONDS = 0.2


class StoppedError(Exception):
    """The driver was told to end before it had begun."""


def drive(
    accepted: Accepted,
    post: Post,
    carrier: Carrier,
    stop: Stopping,
    hearers: Hearers,
    places: Places = nowhere,
) -> None:
    """Run an accepted app by the models that are wanted, until it ends or is told to.

    RefusedError when it cannot run as it is, FailedError when it may be tried again.
    """
    app = accepted.app
    carrier.report(_beginning(accepted, post.pod, State.STARTING))
    if problems := unready(app):
        raise RefusedError(problems)
    home = replace(home_of(app, post.state, post.secrets), state=post.state / "state")
    system = opened(home)
    shape = post.spark()
    if app.spec.systems[0].embedded is not None:
        shape["spark.master"] = "local[1]"  # the log is in this pod, and nobody else reaches it
    session = open_shaped_session(app.application_id, shape)
    force = Workforce(app.application_id, session, lambda _: None, ANY)
    try:
        ledger = Ledger(system, f"{app.application_id}.checkpoint")
        wanted = _awaited(carrier, accepted, stop, None)
        try:
            run = wanted.model.run_id if wanted.model else uuid4().hex
            ledger.open(run, Claim.of_cluster(accepted), Reset.of_cluster(accepted))
            site = Site(app, home, system, ledger, own_of(app))
            ready, wanted = _first(site, session, accepted, post, carrier, stop, wanted)
        except (FencedError, *TROUBLE) as error:
            raise FailedError(f"the start failed: {error}") from error
        hearers.launched(ready)
        tables_file.write(Path(ready.setup.state), ready.program.tables, ready.setup)
        loop = _loop(session, ready, hearers, places)
        beside = Driven(loop, accepted, carrier, force, post.pod, hearers.changed, wanted)
        carrier.report(replace(_beginning(accepted, post.pod, State.WAITING), run_id=ledger.run_id))
        force.call(len(ready.lanes))
        begin(loop)
        serve(loop, beside, stop, hearers.heard, tidying(system, hearers.idle))
        loop.release()
        beside.tell(ended=True)
        loop.close_turn()
    except StoppedError:
        return
    finally:
        hush()
        close_session(session)
        system.close()


def _loop(session: SparkSession, ready: Launch, hearers: Hearers, places: Places) -> Loop:
    spec, site = ready.app.spec, ready.site
    return Loop(
        session,
        site.system,
        site.ledger,
        ready,
        spec.batch.rows,
        interval=milliseconds(spec.batch.interval) / 1000,
        delay=milliseconds(spec.rebalance_delay) / 1000,
        first=milliseconds(spec.executor.start_timeout) / 1000,
        places=places,
        trouble=hearers.trouble,
        changed=hearers.changed,
    )


def _first(
    site: Site,
    session: SparkSession,
    accepted: Accepted,
    post: Post,
    carrier: Carrier,
    stop: Stopping,
    wanted: Wanted,
) -> tuple[Launch, Wanted]:
    """The first model that can be taken; of one that contradicts the state the operator is told why."""
    while True:
        if wanted.model is None:  # there is state that only the driver can look into: it makes the first one
            return begun(site, session, wanted.processors or site.app.spec.processors), wanted
        found = followed(site, session, wanted, wanted.model)
        if not isinstance(found, Refusal):
            return found, wanted
        carrier.report(
            replace(
                _beginning(accepted, post.pod, State.STARTING),
                incarnation=site.ledger.incarnation,
                run_id=site.ledger.run_id,
                layout=site.ledger.layout,
                warnings=(Warned(found.reason, found.path, found.message, wanted.model.version),),
            )
        )
        wanted = _awaited(carrier, accepted, stop, wanted)


def _beginning(accepted: Accepted, pod: str, state: State) -> Report:
    """What a driver can say before it has a model."""
    return Report(state, driver=pod, spec_hash=accepted.hash, generation=accepted.generation)


def _awaited(carrier: Carrier, accepted: Accepted, stop: Stopping, other_than: Wanted | None) -> Wanted:
    """What is wanted of a driver of this app."""
    deadline = time.monotonic() + MODEL_SECONDS
    while time.monotonic() < deadline:
        if stop.is_set():
            raise StoppedError
        wanted = carrier.wanted()
        if wanted is not None and wanted != other_than and wanted.spec_hash in {"", accepted.hash}:
            return wanted
        stop.wait(POLL_SECONDS)
    raise FailedError(f"no model for this app came within {MODEL_SECONDS:g} s")
