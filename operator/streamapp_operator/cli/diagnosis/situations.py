"""The situations that an app may be in: of its status, of the reasons in it, and of what no condition says.

The reconciler has decided what is the matter. Here its reason is looked up, and pods and report say the rest.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from streamapp.protocol.driver_report import Progress
from streamapp.protocol.page_wait import WaitKind
from streamapp.spec.reasons import Reason
from streamapp_operator.cli.diagnosis.situation_facts import SituationFacts
from streamapp_operator.controller.client.labels import OPERATOR_LABEL
from streamapp_operator.reconciler.condition_reasons import ConditionReason
from streamapp_operator.reconciler.driver.driver_history import DriverOutcome
from streamapp_operator.reconciler.facts.pod_state import PodLifecycle, PodState
from streamapp_operator.reconciler.pause import PAUSE_ANNOTATION
from streamapp_operator.reconciler.status.app_condition import ConditionType
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
    {
        WaitKind.SLOW_TASK,
        WaitKind.SLOW_QUOTA,
        WaitKind.SLOW_REMOTE_TABLE,
        WaitKind.SLOW_CODE,
        WaitKind.SLOW_EXPRESSIONS,
    }
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
class Sign:
    """The conditions that say that an app is in a situation; any where no type, status or reason is named."""

    type: ConditionType | None
    status: str
    reasons: Sequence[str]

    def is_on(self, condition: Mapping[str, Any]) -> bool:
        """True if this condition says so."""
        is_of_type = self.type is None or (condition["type"], condition["status"]) == (self.type, self.status)
        return is_of_type and (not self.reasons or condition["reason"] in self.reasons)


@dataclass(frozen=True, slots=True)
class Situation:
    """One thing that may be the matter, with what explains it and the next step."""

    name: str
    sentence: str
    next_command: str
    sign: Sign | None = None  # the condition that says so; None where none does
    detail: Detail | None = None  # what the facts say of it; None where the condition's message does
    explains: Sequence[ConditionType] = ()  # other conditions that follow from it
    stops: bool = False  # whether nothing that comes after it is a matter of its own
    beside: bool = False  # whether it is one also where another condition outranks its own


@dataclass(frozen=True, slots=True)
class Finding:
    """A situation that an app is in."""

    situation: str
    sentence: str
    detail: str
    next_command: str


def _condition(type_: ConditionType, status: str, *reasons: str) -> Sign:
    return Sign(type_, status, reasons)


def _reason(*reasons: str) -> Sign:
    return Sign(None, "", reasons)


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


def _volume_missing(facts: SituationFacts) -> str | None:
    if facts.driver is None or facts.driver.life is not PodLifecycle.COMING:
        return None
    return next((text for text in reversed(facts.driver_warnings) if text.startswith(_VOLUME_EVENTS)), None)


def _ending(facts: SituationFacts) -> str:
    ending = facts.last_ending
    place = f"{ending['path']}: " if ending.get("path") else ""
    return f"driver {ending.get('incarnation')}, {ending.get('reason')}: {place}{ending.get('message', '')}"


def _driver_out_of_memory(facts: SituationFacts) -> str | None:
    return _ending(facts) if _KILLED_FOR_MEMORY in str(facts.last_ending.get("message")) else None


def _driver_refused_app(facts: SituationFacts) -> str | None:
    is_so = facts.last_ending.get("outcome") == DriverOutcome.CONFIG and not facts.runs
    return _ending(facts) if is_so else None


def _driver_crashes(facts: SituationFacts) -> str | None:
    return f"{_ending(facts)}; {facts.failures} failures in a row" if facts.failures else None


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

STATUS_SITUATIONS: Final[Sequence[Situation]] = (
    Situation(
        "no-operator",
        "No operator has looked at the app: none runs, or none manages this namespace or spec.operatorClass.",
        _LIST_OPERATORS,
        detail=_no_status,
        stops=True,
    ),
    Situation(
        "paused",
        "The operator leaves the app alone, because its reconciliation is paused. Everything "
        "below dates from the time of the pause.",
        f"kubectl annotate streamapp {{app}} -n {{namespace}} {PAUSE_ANNOTATION}-",
        detail=lambda facts: facts.message(ConditionType.RECONCILIATION_PAUSED, "True"),
    ),
    Situation(
        "operator-behind",
        "The operator has not seen the last edit. If that stays so for a minute, it is down or overloaded.",
        _LIST_OPERATORS,
        detail=_operator_behind,
    ),
)
"""The situations in which the status is not of now."""

CONDITION_SITUATIONS: Final[Sequence[Situation]] = (
    Situation(
        "plan-rejected",
        "The plan is rejected: the app cannot run as it is written. Each line names a field and a fix.",
        "streamapp plan FILE --cluster -n {namespace}",
        _condition(ConditionType.PLANNED, "False"),
        explains=(
            ConditionType.PLANNED,
            ConditionType.ACCEPTED,
            ConditionType.STALLED,
            ConditionType.DEGRADED,
        ),
    ),
    Situation(
        "spec-rejected",
        "The last edit is rejected. An earlier accepted generation keeps running, where there is one.",
        _EDIT,
        _condition(ConditionType.ACCEPTED, "False"),
        explains=(ConditionType.ACCEPTED, ConditionType.PLANNED, ConditionType.STALLED),
    ),
    Situation(
        "suspended",
        "The app is suspended: spec.suspend is true. Its state is kept.",
        'kubectl patch streamapp {app} -n {namespace} --type merge -p \'{{"spec":{{"suspend":false}}}}\'',
        _condition(ConditionType.SUSPENDED, "True"),
        stops=True,
    ),
    Situation(
        "finished",
        "The app has finished: it has read all there was to read. To run it again, raise spec.restartNonce.",
        "streamapp history {app} -n {namespace}",
        _condition(ConditionType.READY, "False", ConditionReason.COMPLETED),
        stops=True,
    ),
    Situation(
        "system-unavailable",
        "The operator does not reach the brokers of a system. Check its address, credentials "
        "and network policies.",
        "streamapp plan FILE --cluster -n {namespace}",
        _condition(ConditionType.PLANNED, "Unknown", Reason.SYSTEM_UNAVAILABLE),
        explains=(ConditionType.PLANNED, ConditionType.ACCEPTED),
    ),
    Situation(
        "lookup-ended",
        "A system makes the operator's lookup take more than it may. Correct its bootstrapServers, or the "
        "topics of the app's streams.",
        "streamapp plan FILE --cluster -n {namespace}",
        _condition(ConditionType.PLANNED, "Unknown", ConditionReason.LOOKUP_ENDED),
        explains=(ConditionType.PLANNED, ConditionType.ACCEPTED),
    ),
    Situation(
        "counts-awaited",
        "The app waits for its partition counts, which the operator is looking up.",
        "streamapp status {app} -n {namespace}",
        _condition(ConditionType.PLANNED, "Unknown", ConditionReason.NOT_PLANNED_YET),
    ),
    Situation(
        "edit-under-review",
        "The running driver is looking at the last edit. That takes 30 seconds at most.",
        "streamapp status {app} -n {namespace}",
        _condition(ConditionType.ACCEPTED, "Unknown", ConditionReason.AWAITING_DRIVER),
        explains=(ConditionType.ACCEPTED, ConditionType.PLANNED),
    ),
    Situation(
        "image-not-pulled",
        "The driver's image cannot be pulled. Correct spec.image, or the pull Secrets in "
        "spec.imagePullSecrets.",
        _DESCRIBE_DRIVER,
        _reason(ConditionReason.DRIVER_PENDING, ConditionReason.DRIVER_FAILED),
        detail=_driver_trouble(*_IMAGE_REASONS),
        stops=True,
    ),
    Situation(
        "driver-unschedulable",
        "No node takes the driver's pod. Free resources, add a node, or lower spec.driver.resources.",
        _DESCRIBE_DRIVER,
        _reason(ConditionReason.DRIVER_PENDING, ConditionReason.DRIVER_FAILED),
        detail=_driver_trouble(_UNSCHEDULABLE),
        stops=True,
    ),
    Situation(
        "driver-cannot-start",
        "The driver's container cannot be created: mostly, a Secret or ConfigMap that it names is missing.",
        _DESCRIBE_DRIVER,
        _reason(ConditionReason.DRIVER_PENDING, ConditionReason.DRIVER_FAILED),
        detail=_driver_trouble(),
        stops=True,
    ),
    Situation(
        "names-taken",
        "Objects with the names of the app's are there and belong to somebody else, as those that are left "
        "of a deleted app. The message has the command that deletes these.",
        "kubectl get pods,services,serviceaccounts,roles,rolebindings,configmaps -n {namespace} "
        "-l streamapp.dev/app={app}",
        _condition(ConditionType.LAUNCHED, "False", ConditionReason.NAME_TAKEN),
        stops=True,
    ),
    Situation(
        "volume-not-mounted",
        "The driver's pod waits for a volume. Check that the Secret, ConfigMap or claim exists and is bound.",
        _DESCRIBE_DRIVER,
        _reason(ConditionReason.DRIVER_PENDING, ConditionReason.DRIVER_FAILED),
        detail=_volume_missing,
        stops=True,
    ),
    Situation(
        "driver-refused-app",
        "The driver ended because the app or a record is wrong; to start it again as it is "
        "would change nothing.",
        _ENDED_DRIVER_LOG,
        _reason(ConditionReason.DRIVER_FAILED),
        detail=_driver_refused_app,
        stops=True,
    ),
    Situation(
        "driver-out-of-memory",
        "The driver was killed because it used more memory than its limit. Raise spec.driver.resources.",
        _ENDED_DRIVER_LOG,
        _reason(ConditionReason.DRIVER_FAILED, ConditionReason.RESTARTS_EXHAUSTED),
        detail=_driver_out_of_memory,
        stops=True,
    ),
    Situation(
        "restarts-exhausted",
        "The driver failed as often as spec.restartPolicy.maxRestarts allows, and is not "
        "started again. Fix the "
        "cause, then raise spec.restartNonce.",
        _ENDED_DRIVER_LOG,
        _condition(ConditionType.STALLED, "True", ConditionReason.RESTARTS_EXHAUSTED),
        stops=True,
    ),
    Situation(
        "driver-crashes",
        "The driver fails again and again; the next one waits, longer each time.",
        _ENDED_DRIVER_LOG,
        _reason(ConditionReason.DRIVER_FAILED),
        detail=_driver_crashes,
        stops=True,
    ),
    Situation(
        "no-progress",
        "The driver makes no progress: it hangs, or its node does not answer. It is replaced by itself.",
        "streamapp logs {app} -n {namespace} --tail 100",
        _condition(ConditionType.READY, "Unknown", ConditionReason.NO_PROGRESS),
        stops=True,
    ),
    Situation(
        "executor-unschedulable",
        "No node takes an executor's pod. Free resources, add a node, or lower spec.processors.",
        _LIST_EXECUTORS,
        _reason(ConditionReason.EXECUTORS_MISSING),
        detail=_executor_trouble(_UNSCHEDULABLE),
        beside=True,
    ),
    Situation(
        "executor-cannot-start",
        "An executor's container cannot start.",
        _LIST_EXECUTORS,
        _reason(ConditionReason.EXECUTORS_MISSING),
        detail=_executor_trouble(),
        beside=True,
    ),
    Situation(
        "executors-missing",
        "The driver waits for executors. If it stays so, look for a quota, and for pods that are pending.",
        _LIST_EXECUTORS,
        _reason(ConditionReason.EXECUTORS_MISSING),
    ),
    Situation(
        "standby-missing",
        "The app asks for a standby driver, and none is ready. If the driver fails now, the next one has to "
        "start first.",
        "kubectl get pods -n {namespace} -l streamapp.dev/app={app},streamapp.dev/role=driver",
        _condition(ConditionType.DEGRADED, "True", ConditionReason.STANDBY_MISSING),
    ),
    Situation(
        "growth-refused",
        "A stream has other partitions than the app's state was laid out for, and the app does "
        "not take them up.",
        "streamapp plan FILE --cluster -n {namespace}",
        _condition(ConditionType.DEGRADED, "True", *_GROWTH_REFUSALS),
        explains=(ConditionType.DEGRADED, ConditionType.STALLED),
    ),
    Situation(
        "growth-under-way",
        "Partitions were added to a stream; the app takes them up with a restart.",
        "streamapp status {app} -n {namespace}",
        _condition(ConditionType.PROGRESSING, "True", ConditionReason.PARTITIONS_GREW),
        explains=(ConditionType.PROGRESSING, ConditionType.READY, ConditionType.LAUNCHED),
    ),
    Situation(
        "side-input-awaited",
        "Rows wait for the first version of a side input: no marker has ended it in every partition.",
        "streamapp logs {app} -n {namespace} --tail 100",
        _condition(ConditionType.DEGRADED, "True", Reason.AWAITING_SIDE_INPUT),
    ),
    Situation(
        "input-unavailable",
        "A system that the app reads from does not answer. Its streams wait, and all others are read.",
        "streamapp logs {app} -n {namespace} --tail 100",
        _condition(ConditionType.DEGRADED, "True", Reason.INPUT_UNAVAILABLE),
    ),
    Situation(
        "transaction-open",
        "A transaction in a stream of the app stays open. No record behind it can be read until it ends.",
        "streamapp logs {app} -n {namespace} --tail 100",
        _condition(ConditionType.DEGRADED, "True", Reason.TRANSACTION_OPEN),
    ),
    Situation(
        "partition-not-read",
        "Partitions have records that the app does not read, and nothing is known that holds them up. All "
        "others are read.",
        "streamapp logs {app} -n {namespace} --tail 100",
        _condition(ConditionType.DEGRADED, "True", Reason.PARTITION_NOT_READ),
    ),
    Situation(
        "restoring",
        "Tasks bring back their state from changelogs; the others work. Durable volumes avoid that.",
        "streamapp page {app} -n {namespace}",
        _condition(ConditionType.READY, "False", ConditionReason.RESTORING),
    ),
    Situation(
        "starting",
        "The driver is starting. If that takes more than two minutes, its log says what it waits for.",
        "streamapp logs {app} -n {namespace} --follow",
        _condition(
            ConditionType.READY,
            "False",
            ConditionReason.LAUNCHED,
            ConditionReason.DRIVER_PENDING,
            ConditionReason.DRIVER_STARTING,
        ),
        explains=(ConditionType.READY, ConditionType.PROGRESSING, ConditionType.LAUNCHED),
    ),
    Situation(
        "configuration-outdated",
        "A Secret or ConfigMap has changed, and the driver still has its former content. Raise "
        "spec.restartNonce.",
        _EDIT,
        _condition(ConditionType.CONFIGURATION_OUTDATED, "True"),
    ),
)
"""The situations that conditions tell of: the first that fits explains a reason."""

SYMPTOMS: Final[Sequence[Situation]] = (
    Situation(
        "executor-out-of-memory",
        "Executors were killed because they used more memory than their limit. Raise "
        "spec.executor.resources, or "
        "lower spec.batch.rows.",
        _LIST_EXECUTORS,
        detail=_executor_out_of_memory,
    ),
    Situation(
        "tasks-moved",
        "A processor is missing, and others run its tasks. They restore state that they do not have, and "
        "give the tasks back when the processor returns.",
        _LIST_EXECUTORS,
        detail=_tasks_moved,
    ),
    Situation(
        "driver-waits",
        "The driver waits for something, or something holds it back.",
        "streamapp page {app} -n {namespace}",
        detail=_driver_waits,
    ),
    Situation(
        "stuck-watermark",
        "A stream holds back the watermark, and windows and joins wait for it. Look at its producers; where "
        "partitions may stay without records, set its eventTime.idleTimeout.",
        "streamapp page {app} -n {namespace}",
        detail=_on_page(WaitKind.STUCK_WATERMARK),
    ),
    Situation(
        "slow-task",
        "One task has most of the lag, so that more processors do not help. Look for a key that most "
        "records have, or for a producer that prefers one partition.",
        "streamapp top {app} -n {namespace}",
        detail=_slow(WaitKind.SLOW_TASK),
    ),
    Situation(
        "slow-quota",
        "Batches mostly wait for a quota of the brokers. Raise that of the app's user or client.id with "
        "kafka-configs, or set compression.type.",
        "streamapp page {app} -n {namespace}",
        detail=_slow(WaitKind.SLOW_QUOTA),
    ),
    Situation(
        "slow-remote-table",
        "Batches mostly wait for a remote table. Make it answer faster, set its cache.size and "
        "cache.ttl, raise its rateLimit if it has one, or raise spec.processors.",
        "streamapp page {app} -n {namespace}",
        detail=_slow(WaitKind.SLOW_REMOTE_TABLE),
    ),
    Situation(
        "slow-code",
        "Batches mostly run the app's own Python. Make it work on columns instead of single rows, or "
        "raise spec.processors, up to the number of tasks.",
        "streamapp page {app} -n {namespace}",
        detail=_slow(WaitKind.SLOW_CODE),
    ),
    Situation(
        "slow-expressions",
        "Batches mostly evaluate expressions. Take work out of them, or raise spec.processors, up to the "
        "number of tasks.",
        "streamapp page {app} -n {namespace}",
        detail=_slow(WaitKind.SLOW_EXPRESSIONS),
    ),
    Situation(
        "autoscale-bounded",
        "Autoscaling would set more processors, and is not allowed to. Raise spec.autoscale.max, or add "
        "partitions where the tasks are the bound.",
        _EDIT,
        detail=_autoscale_bounded,
    ),
    Situation(
        "behind",
        "The app is behind its inputs. More processors, up to the number of tasks, or larger "
        "batches may help.",
        "streamapp page {app} -n {namespace}",
        detail=_behind,
    ),
)
"""The situations that no condition tells of, as of an app that works and is slow."""

SITUATIONS: Final = (*STATUS_SITUATIONS, *CONDITION_SITUATIONS, *SYMPTOMS)


def findings_of(facts: SituationFacts) -> list[Finding]:
    """The situations of an app: that of the reason in its status first, unless the status is not of now."""
    findings = list[Finding]()
    for situation, finding in _matters(facts):
        findings.append(finding)
        is_first_step = not facts.runs and facts.status.get("acceptedGeneration") is None
        if is_first_step or (situation is not None and situation.stops):
            break
    return findings


def _matters(facts: SituationFacts) -> Iterator[tuple[Situation | None, Finding]]:
    """All situations of an app, and the conditions that none of them explains."""
    yield from _those_of(facts, STATUS_SITUATIONS)
    explained = {ConditionType.RECONCILIATION_PAUSED}
    reasons = set[str]()
    for condition in facts.conditions_by_importance():
        if condition["type"] in explained or condition["reason"] in reasons:
            continue
        reasons.add(condition["reason"])
        situation, finding = _explanation(facts, condition["reason"]) or (None, _meaning(facts, condition))
        explained.update(situation.explains if situation is not None else ())
        yield situation, finding
    outranked = (
        situation
        for situation in CONDITION_SITUATIONS
        if situation.beside and situation.sign is not None and reasons.isdisjoint(situation.sign.reasons)
    )
    yield from _those_of(facts, (*outranked, *SYMPTOMS))


def _explanation(facts: SituationFacts, reason: str) -> tuple[Situation, Finding] | None:
    """The first situation that a condition with this reason tells of."""
    conditions = [
        condition for condition in facts.conditions_by_importance() if condition["reason"] == reason
    ]
    for situation in CONDITION_SITUATIONS:
        signs = [condition for condition in conditions if situation.sign and situation.sign.is_on(condition)]
        detail = situation.detail(facts) if signs and situation.detail else None
        if signs and situation.detail is None:
            detail = str(signs[0]["message"])
        if detail is not None:
            return situation, _finding(facts, situation, detail)
    return None


def _those_of(facts: SituationFacts, situations: Iterable[Situation]) -> Iterator[tuple[Situation, Finding]]:
    for situation in situations:
        detail = situation.detail(facts) if situation.detail is not None else None
        if detail is not None:
            yield situation, _finding(facts, situation, detail)


def _finding(facts: SituationFacts, situation: Situation, detail: str) -> Finding:
    command = situation.next_command.format(
        app=facts.name,
        namespace=facts.namespace,
        driver=facts.driver.name if facts.driver is not None else "",
        previous=" --previous" if facts.driver is not None and facts.driver.ending is None else "",
    )
    return Finding(situation.name, situation.sentence, detail, command)


def _meaning(facts: SituationFacts, condition: Mapping[str, Any]) -> Finding:
    """A condition that is not as it should be, with the meaning of its reason."""
    type_, status, reason = condition["type"], condition["status"], condition["reason"]
    meaning = REASON_TEXTS[ConditionReason(reason)] if reason in set(ConditionReason) else ""
    return Finding(
        f"{type_}={status}",
        f"{type_} is {status}, with the reason {reason}. {meaning}".strip(),
        str(condition["message"]),
        f"streamapp status {facts.name} -n {facts.namespace}",
    )
