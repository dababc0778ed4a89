"""The situations that an app may be in: one table, from the causes to what follows from them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from streamapp.protocol.driver_report import Progress
from streamapp.protocol.page_wait import WaitKind
from streamapp.spec.reasons import Reason
from streamapp_operator.cli.diagnosis.situation_facts import SituationFacts
from streamapp_operator.controller.client.labels import OPERATOR_LABEL
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.driver.driver_history import DriverOutcome
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState
from streamapp_operator.reconciler.pause import PAUSE_ANNOTATION
from streamapp_operator.reconciler.status.app_condition import EXPECTED_STATUS, ConditionType
from streamapp_operator.reconciler.status.reason_texts import REASON_TEXTS
from streamapp_operator.reconciler.status.status_events import named_moves

Detail = Callable[[SituationFacts], str | None]
_IMAGE_REASONS: Final = ("ErrImageNeverPull", "ErrImagePull", "ImagePullBackOff", "InvalidImageName")
_KILLED_FOR_MEMORY: Final = "OOMKilled"
_UNSCHEDULABLE: Final = "Unschedulable"
_VOLUME_EVENTS: Final = ("FailedMount", "FailedAttachVolume")
_GROWTH_REFUSALS: Final = (
    Reason.EXPANSION_SHRINKS,
    Reason.EXPANSION_NOT_MULTIPLE,
    Reason.EXPANSION_ALGORITHM_INVALID,
    Reason.LAYOUT_CONFLICT,
)
_UPPER_BOUNDS: Final = frozenset({"max", "tasks"})
"""What may keep autoscaling from more processors: its policy, and the tasks that could use them."""
_SLOW_KINDS: Final = frozenset(
    {WaitKind.SLOW_TASK, WaitKind.SLOW_REMOTE_TABLE, WaitKind.SLOW_CODE, WaitKind.SLOW_EXPRESSIONS}
)
_PAGE_KINDS: Final = _SLOW_KINDS | {WaitKind.STUCK_WATERMARK}
"""What the driver's page tells of and has a situation of its own."""
_DESCRIBE_DRIVER: Final = "kubectl describe pod {driver} -n {namespace}"
_LIST_EXECUTORS: Final = (
    "kubectl describe pods -n {namespace} -l streamapp.dev/app={app},streamapp.dev/role=executor"
)
_ENDED_DRIVER_LOG: Final = "streamapp logs {app} -n {namespace}{previous} --tail 100"
_LIST_OPERATORS: Final = "kubectl get pods --all-namespaces -l " + "=".join(OPERATOR_LABEL)
_EDIT: Final = "kubectl edit streamapp {app} -n {namespace}"


@dataclass(frozen=True, slots=True)
class Situation:
    """One thing that may be the matter, with what explains it and the next step."""

    name: str
    detail: Detail  # what the facts say of it; None where it is not so
    sentence: str
    next_command: str
    explains: Sequence[ConditionType] = ()
    stops: bool = False  # whether nothing below it in the table is a matter of its own


@dataclass(frozen=True, slots=True)
class Finding:
    """A situation that an app is in."""

    situation: str
    sentence: str
    detail: str
    next_command: str


def _condition(type_: ConditionType, status: str, *reasons: str) -> Detail:
    return lambda facts: facts.message(type_, status, *reasons)


def _no_status(facts: SituationFacts) -> str | None:
    return None if facts.conditions() else "the resource has no status"


def _operator_behind(facts: SituationFacts) -> str | None:
    newest, seen = facts.app["metadata"].get("generation", 0), facts.status.get("observedGeneration", 0)
    if newest <= seen or facts.message(ConditionType.RECONCILIATION_PAUSED, "True") is not None:
        return None
    return f"the resource has generation {newest}, and the operator has seen {seen}"


def _driver_trouble(*beginnings: str) -> Detail:
    """Why the driver cannot start, where that begins so; any beginning where none is named."""
    return lambda facts: _trouble([facts.driver] if facts.driver else [], beginnings)


def _executor_trouble(*beginnings: str) -> Detail:
    return lambda facts: _trouble(facts.executors, beginnings)


def _trouble(pods: Sequence[PodState], beginnings: tuple[str, ...]) -> str | None:
    troubled = [pod for pod in pods if pod.trouble and pod.trouble.startswith(beginnings or ("",))]
    if not troubled:
        return None
    more = f" (and {len(troubled) - 1} more pods)" * (len(troubled) > 1)
    return f"{troubled[0].name}{more}: {troubled[0].trouble}"


def _executors_missing(facts: SituationFacts) -> str | None:
    reason = ConditionReason.EXECUTORS_MISSING
    degraded = facts.message(ConditionType.DEGRADED, "True", reason)
    return degraded or facts.message(ConditionType.READY, "False", reason)


def _volume_missing(facts: SituationFacts) -> str | None:
    if facts.driver is None or facts.driver.life is not PodLifecycle.COMING:
        return None
    return next((text for text in reversed(facts.driver_warnings) if text.startswith(_VOLUME_EVENTS)), None)


def _is_ready(facts: SituationFacts) -> bool:
    return facts.message(ConditionType.READY, "True") is not None


def _ending(facts: SituationFacts) -> str:
    ending = facts.last_ending
    place = f"{ending['path']}: " if ending.get("path") else ""
    return f"driver {ending.get('incarnation')}, {ending.get('reason')}: {place}{ending.get('message', '')}"


def _driver_out_of_memory(facts: SituationFacts) -> str | None:
    is_so = _KILLED_FOR_MEMORY in str(facts.last_ending.get("message")) and facts.failures > 0
    return _ending(facts) if is_so and not _is_ready(facts) else None


def _driver_refused_app(facts: SituationFacts) -> str | None:
    is_so = facts.last_ending.get("outcome") == DriverOutcome.CONFIG and not facts.runs
    return _ending(facts) if is_so else None


def _driver_crashes(facts: SituationFacts) -> str | None:
    if facts.failures == 0 or _is_ready(facts):
        return None
    return f"{_ending(facts)}; {facts.failures} failures in a row"


def _executor_out_of_memory(facts: SituationFacts) -> str | None:
    killed = [
        pod.name
        for pod in facts.executors
        if pod.ending is not None and _KILLED_FOR_MEMORY in pod.ending.message
    ]
    return ", ".join(killed) or None


def _tasks_moved(facts: SituationFacts) -> str | None:
    """Tasks that the driver runs elsewhere than the job model says."""
    moved = facts.report.moved if facts.report is not None and facts.runs else {}
    return named_moves(moved) if moved else None


def _driver_waits(facts: SituationFacts) -> str | None:
    """The waits on the driver's page without a situation of their own, as of a driver of a later version."""
    texts = (text for kind, texts in _page_waits(facts).items() if kind not in _PAGE_KINDS for text in texts)
    return "\n".join(texts) or None


def _on_page(kind: WaitKind) -> Detail:
    """The sentences of this kind on the driver's page."""
    return lambda facts: "\n".join(_page_waits(facts).get(kind, ())) or None


def _slow(kind: WaitKind) -> Detail:
    """The same of what makes an app slow, with how far that is behind: this only follows from it."""

    def detail(facts: SituationFacts) -> str | None:
        texts = [*_page_waits(facts).get(kind, ())]
        return "\n".join([*texts, *filter(None, [_unread(facts)])]) if texts else None

    return detail


def _page_waits(facts: SituationFacts) -> Mapping[str, Sequence[str]]:
    """The waits on the driver's page, by kind; empty while tasks restore, which is a situation of its own."""
    restoring = facts.report is not None and facts.report.progress.restoring > 0
    texts: dict[str, list[str]] = {}
    for wait in facts.run.waits if facts.run is not None and not restoring else ():
        texts.setdefault(wait.kind, []).append(wait.text)
    return texts


def _autoscale_bounded(facts: SituationFacts) -> str | None:
    state = facts.status.get("autoscale") or {}
    unread = _unread(facts)
    is_bounded = state.get("boundedBy") in _UPPER_BOUNDS
    if unread is None or not is_bounded or WaitKind.SLOW_TASK in _page_waits(facts):
        return None  # more processors do not help a single task
    return f"{unread}; {state.get('message', '')}"


def _behind(facts: SituationFacts) -> str | None:
    has_cause = _autoscale_bounded(facts) is not None or not _SLOW_KINDS.isdisjoint(_page_waits(facts))
    return None if has_cause else _unread(facts)


def _unread(facts: SituationFacts) -> str | None:
    """The lag of an app, as a text; None where it is no more than a batch."""
    rows = ((facts.app["spec"].get("batch") or {}).get("rows")) or 0
    progress = facts.report.progress if facts.report is not None else Progress()
    if progress.lag <= max(rows, BEHIND_RECORDS):
        return None
    busy = progress.utilization
    share = "" if busy is None else f"; batches take {busy} % of the time"
    return f"about {progress.lag:,} records are there and not yet read{share}"


BEHIND_RECORDS: Final = 100_000
"""A lag of fewer records, or of less than a batch, is no matter: the report has it rounded up."""

SITUATIONS: Final[Sequence[Situation]] = (
    Situation(
        "no-operator",
        _no_status,
        "No operator has looked at the app: none runs, or none manages this namespace or spec.operatorClass.",
        _LIST_OPERATORS,
        stops=True,
    ),
    Situation(
        "paused",
        _condition(ConditionType.RECONCILIATION_PAUSED, "True"),
        "The operator leaves the app alone, because its reconciliation is paused. Everything "
        "below dates from the time of the pause.",
        f"kubectl annotate streamapp {{app}} -n {{namespace}} {PAUSE_ANNOTATION}-",
        (ConditionType.RECONCILIATION_PAUSED,),
    ),
    Situation(
        "operator-behind",
        _operator_behind,
        "The operator has not seen the last edit. If that stays so for a minute, it is down or overloaded.",
        _LIST_OPERATORS,
    ),
    Situation(
        "plan-rejected",
        _condition(ConditionType.PLANNED, "False"),
        "The plan is rejected: the app cannot run as it is written. Each line names a field and a fix.",
        "streamapp plan FILE --cluster -n {namespace}",
        (ConditionType.PLANNED, ConditionType.ACCEPTED, ConditionType.STALLED, ConditionType.DEGRADED),
    ),
    Situation(
        "spec-rejected",
        _condition(ConditionType.ACCEPTED, "False"),
        "The last edit is rejected. An earlier accepted generation keeps running, where there is one.",
        _EDIT,
        (ConditionType.ACCEPTED, ConditionType.PLANNED, ConditionType.STALLED),
    ),
    Situation(
        "suspended",
        _condition(ConditionType.SUSPENDED, "True"),
        "The app is suspended: spec.suspend is true. Its state is kept.",
        'kubectl patch streamapp {app} -n {namespace} --type merge -p \'{{"spec":{{"suspend":false}}}}\'',
        stops=True,
    ),
    Situation(
        "finished",
        _condition(ConditionType.READY, "False", ConditionReason.COMPLETED),
        "The app has finished: it has read all there was to read. To run it again, raise spec.restartNonce.",
        "streamapp history {app} -n {namespace}",
        stops=True,
    ),
    Situation(
        "system-unavailable",
        _condition(ConditionType.PLANNED, "Unknown", Reason.SYSTEM_UNAVAILABLE),
        "The operator does not reach the brokers of a system. Check its address, credentials "
        "and network policies.",
        "streamapp plan FILE --cluster -n {namespace}",
        (ConditionType.PLANNED, ConditionType.ACCEPTED),
    ),
    Situation(
        "lookup-ended",
        _condition(ConditionType.PLANNED, "Unknown", ConditionReason.LOOKUP_ENDED),
        "A system makes the operator's lookup take more than it may. Correct its bootstrapServers, or the "
        "topics of the app's streams.",
        "streamapp plan FILE --cluster -n {namespace}",
        (ConditionType.PLANNED, ConditionType.ACCEPTED),
    ),
    Situation(
        "counts-awaited",
        _condition(ConditionType.PLANNED, "Unknown", ConditionReason.NOT_PLANNED_YET),
        "The app waits for its partition counts, which the operator is looking up.",
        "streamapp status {app} -n {namespace}",
        (ConditionType.PLANNED, ConditionType.ACCEPTED),
    ),
    Situation(
        "edit-under-review",
        _condition(ConditionType.ACCEPTED, "Unknown", ConditionReason.AWAITING_DRIVER),
        "The running driver is looking at the last edit. That takes 30 seconds at most.",
        "streamapp status {app} -n {namespace}",
        (ConditionType.ACCEPTED, ConditionType.PLANNED),
    ),
    Situation(
        "image-not-pulled",
        _driver_trouble(*_IMAGE_REASONS),
        "The driver's image cannot be pulled. Correct spec.image, or the pull Secrets in "
        "spec.imagePullSecrets.",
        _DESCRIBE_DRIVER,
        stops=True,
    ),
    Situation(
        "driver-unschedulable",
        _driver_trouble(_UNSCHEDULABLE),
        "No node takes the driver's pod. Free resources, add a node, or lower spec.driver.resources.",
        _DESCRIBE_DRIVER,
        stops=True,
    ),
    Situation(
        "driver-cannot-start",
        _driver_trouble(),
        "The driver's container cannot be created: mostly, a Secret or ConfigMap that it names is missing.",
        _DESCRIBE_DRIVER,
        stops=True,
    ),
    Situation(
        "names-taken",
        _condition(ConditionType.LAUNCHED, "False", ConditionReason.NAME_TAKEN),
        "Objects with the names of the app's are there and belong to somebody else, as those that are left "
        "of a deleted app. The message has the command that deletes these.",
        "kubectl get pods,services,serviceaccounts,roles,rolebindings,configmaps -n {namespace} "
        "-l streamapp.dev/app={app}",
        (ConditionType.LAUNCHED, ConditionType.READY, ConditionType.DEGRADED),
        stops=True,
    ),
    Situation(
        "volume-not-mounted",
        _volume_missing,
        "The driver's pod waits for a volume. Check that the Secret, ConfigMap or claim exists and is bound.",
        _DESCRIBE_DRIVER,
        stops=True,
    ),
    Situation(
        "driver-refused-app",
        _driver_refused_app,
        "The driver ended because the app or a record is wrong; to start it again as it is "
        "would change nothing.",
        _ENDED_DRIVER_LOG,
        stops=True,
    ),
    Situation(
        "driver-out-of-memory",
        _driver_out_of_memory,
        "The driver was killed because it used more memory than its limit. Raise spec.driver.resources.",
        _ENDED_DRIVER_LOG,
        stops=True,
    ),
    Situation(
        "restarts-exhausted",
        _condition(ConditionType.STALLED, "True", ConditionReason.RESTARTS_EXHAUSTED),
        "The driver failed as often as spec.restartPolicy.maxRestarts allows, and is not "
        "started again. Fix the "
        "cause, then raise spec.restartNonce.",
        _ENDED_DRIVER_LOG,
        stops=True,
    ),
    Situation(
        "driver-crashes",
        _driver_crashes,
        "The driver fails again and again; the next one waits, longer each time.",
        _ENDED_DRIVER_LOG,
        stops=True,
    ),
    Situation(
        "no-progress",
        _condition(ConditionType.READY, "Unknown", ConditionReason.NO_PROGRESS),
        "The driver makes no progress: it hangs, or its node does not answer. It is replaced by itself.",
        "streamapp logs {app} -n {namespace} --tail 100",
        stops=True,
    ),
    Situation(
        "executor-out-of-memory",
        _executor_out_of_memory,
        "Executors were killed because they used more memory than their limit. Raise "
        "spec.executor.resources, or "
        "lower spec.batch.rows.",
        _LIST_EXECUTORS,
    ),
    Situation(
        "executor-unschedulable",
        _executor_trouble(_UNSCHEDULABLE),
        "No node takes an executor's pod. Free resources, add a node, or lower spec.processors.",
        _LIST_EXECUTORS,
        (ConditionType.READY, ConditionType.DEGRADED, ConditionType.PROGRESSING),
        stops=True,
    ),
    Situation(
        "executor-cannot-start",
        _executor_trouble(),
        "An executor's container cannot start.",
        _LIST_EXECUTORS,
        (ConditionType.READY, ConditionType.DEGRADED, ConditionType.PROGRESSING),
        stops=True,
    ),
    Situation(
        "executors-missing",
        _executors_missing,
        "The driver waits for executors. If it stays so, look for a quota, and for pods that are pending.",
        _LIST_EXECUTORS,
        (ConditionType.READY, ConditionType.DEGRADED, ConditionType.PROGRESSING),
    ),
    Situation(
        "standby-missing",
        _condition(ConditionType.DEGRADED, "True", ConditionReason.STANDBY_MISSING),
        "The app asks for a standby driver, and none is ready. If the driver fails now, the next one has to "
        "start first.",
        "kubectl get pods -n {namespace} -l streamapp.dev/app={app},streamapp.dev/role=driver",
        (ConditionType.DEGRADED,),
    ),
    Situation(
        "growth-refused",
        _condition(ConditionType.DEGRADED, "True", *_GROWTH_REFUSALS),
        "A stream has other partitions than the app's state was laid out for, and the app does "
        "not take them up.",
        "streamapp plan FILE --cluster -n {namespace}",
        (ConditionType.DEGRADED, ConditionType.STALLED),
    ),
    Situation(
        "growth-under-way",
        _condition(ConditionType.PROGRESSING, "True", ConditionReason.PARTITIONS_GREW),
        "Partitions were added to a stream; the app takes them up with a restart.",
        "streamapp status {app} -n {namespace}",
        (ConditionType.PROGRESSING, ConditionType.READY, ConditionType.LAUNCHED),
    ),
    Situation(
        "side-input-awaited",
        _condition(ConditionType.DEGRADED, "True", Reason.AWAITING_SIDE_INPUT),
        "Rows wait for the first version of a side input: no marker has ended it in every partition.",
        "streamapp logs {app} -n {namespace} --tail 100",
        (ConditionType.DEGRADED,),
    ),
    Situation(
        "transaction-open",
        _condition(ConditionType.DEGRADED, "True", Reason.TRANSACTION_OPEN),
        "A transaction in a stream of the app stays open. No record behind it can be read until it ends.",
        "streamapp logs {app} -n {namespace} --tail 100",
        (ConditionType.DEGRADED,),
    ),
    Situation(
        "partition-not-read",
        _condition(ConditionType.DEGRADED, "True", Reason.PARTITION_NOT_READ),
        "Partitions have records that the app does not read, and nothing is known that holds them up. All "
        "others are read.",
        "streamapp logs {app} -n {namespace} --tail 100",
        (ConditionType.DEGRADED,),
    ),
    Situation(
        "tasks-moved",
        _tasks_moved,
        "A processor is missing, and others run its tasks. They restore state that they do not have, and "
        "give the tasks back when the processor returns.",
        _LIST_EXECUTORS,
    ),
    Situation(
        "restoring",
        _condition(ConditionType.READY, "False", ConditionReason.RESTORING),
        "Tasks bring back their state from changelogs; the others work. Durable volumes avoid that.",
        "streamapp page {app} -n {namespace}",
        (ConditionType.READY, ConditionType.PROGRESSING),
    ),
    Situation(
        "starting",
        _condition(
            ConditionType.READY,
            "False",
            ConditionReason.LAUNCHED,
            ConditionReason.DRIVER_PENDING,
            ConditionReason.DRIVER_STARTING,
        ),
        "The driver is starting. If that takes more than two minutes, its log says what it waits for.",
        "streamapp logs {app} -n {namespace} --follow",
        (ConditionType.READY, ConditionType.PROGRESSING, ConditionType.LAUNCHED),
    ),
    Situation(
        "configuration-outdated",
        _condition(ConditionType.CONFIGURATION_OUTDATED, "True"),
        "A Secret or ConfigMap has changed, and the driver still has its former content. Raise "
        "spec.restartNonce.",
        _EDIT,
        (ConditionType.CONFIGURATION_OUTDATED,),
    ),
    Situation(
        "driver-waits",
        _driver_waits,
        "The driver waits for something, or something holds it back.",
        "streamapp page {app} -n {namespace}",
    ),
    Situation(
        "stuck-watermark",
        _on_page(WaitKind.STUCK_WATERMARK),
        "A stream holds back the watermark, and windows and joins wait for it. Look at its producers; where "
        "partitions may stay without records, set its eventTime.idleTimeout.",
        "streamapp page {app} -n {namespace}",
    ),
    Situation(
        "slow-task",
        _slow(WaitKind.SLOW_TASK),
        "One task has most of the lag, so that more processors do not help. Look for a key that most "
        "records have, or for a producer that prefers one partition.",
        "streamapp top {app} -n {namespace}",
    ),
    Situation(
        "slow-remote-table",
        _slow(WaitKind.SLOW_REMOTE_TABLE),
        "Batches mostly wait for a remote table. Make it answer faster, set its cache.size and "
        "cache.ttl, raise its rateLimit if it has one, or raise spec.processors.",
        "streamapp page {app} -n {namespace}",
    ),
    Situation(
        "slow-code",
        _slow(WaitKind.SLOW_CODE),
        "Batches mostly run the app's own Python. Make it work on columns instead of single rows, or "
        "raise spec.processors, up to the number of tasks.",
        "streamapp page {app} -n {namespace}",
    ),
    Situation(
        "slow-expressions",
        _slow(WaitKind.SLOW_EXPRESSIONS),
        "Batches mostly evaluate expressions. Take work out of them, or raise spec.processors, up to the "
        "number of tasks.",
        "streamapp page {app} -n {namespace}",
    ),
    Situation(
        "autoscale-bounded",
        _autoscale_bounded,
        "Autoscaling would set more processors, and is not allowed to. Raise spec.autoscale.max, or add "
        "partitions where the tasks are the bound.",
        _EDIT,
    ),
    Situation(
        "behind",
        _behind,
        "The app is behind its inputs. More processors, up to the number of tasks, or larger "
        "batches may help.",
        "streamapp page {app} -n {namespace}",
    ),
)
"""In order: a situation comes after those that it may follow from."""


def findings_of(facts: SituationFacts) -> list[Finding]:
    """The situations of an app, the cause first; then the conditions that none of them explains."""
    findings = list[Finding]()
    explained = set[ConditionType]()
    for situation in SITUATIONS:
        detail = situation.detail(facts)
        if detail is None:
            continue
        findings.append(_finding(facts, situation, detail))
        explained.update(situation.explains)
        if situation.stops or (not facts.runs and facts.status.get("acceptedGeneration") is None):
            return findings
    return [*findings, *_unexplained(facts, explained)]


def _finding(facts: SituationFacts, situation: Situation, detail: str) -> Finding:
    command = situation.next_command.format(
        app=facts.name,
        namespace=facts.namespace,
        driver=facts.driver.name if facts.driver is not None else "",
        previous=" --previous" if facts.driver is not None and facts.driver.ending is None else "",
    )
    return Finding(situation.name, situation.sentence, detail, command)


def _unexplained(facts: SituationFacts, explained: set[ConditionType]) -> Iterator[Finding]:
    """The other conditions that are not as they should be, each with the meaning of its reason."""
    for condition in facts.conditions().values():
        type_, status, reason = condition["type"], condition["status"], condition["reason"]
        if type_ in explained or status == EXPECTED_STATUS.get(type_):
            continue
        meaning = REASON_TEXTS[ConditionReason(reason)] if reason in set(ConditionReason) else ""
        yield Finding(
            f"{type_}={status}",
            f"{type_} is {status}, with the reason {reason}. {meaning}".strip(),
            str(condition["message"]),
            f"streamapp status {facts.name} -n {facts.namespace}",
        )
