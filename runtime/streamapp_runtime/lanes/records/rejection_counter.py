"""Counts the records of a range that are left out, before the others are handed on."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamapp_runtime.lanes.protocol.rejections import RejectionCause, RejectionCount, RejectionReport
from streamapp_runtime.lanes.records.dead_letters import RejectedRecord
from streamapp_runtime.lanes.records.record_decoding import DecodedRecords
from streamapp_runtime.lanes.records.rejection_policy import (
    RejectionPolicy,
    counted_on,
    different_reasons_first,
    samples,
)
from streamapp_runtime.operators.stateless.stream_operations import declared_stream


class RejectionCounter:
    """Goes on from what the task's order says of the partition."""

    def __init__(
        self,
        policies: Mapping[RejectionCause, RejectionPolicy],
        before: Iterable[RejectionCount],
        stream: str,
        partition: int,
        *,
        show_values: bool = False,
    ) -> None:
        counts = {count.subject: count for count in before}
        self._policies = {cause: one for cause, one in policies.items() if one.action != "fail"}
        self._first = {
            cause: counts.get((cause, stream, partition)) or RejectionCount(cause, stream, partition)
            for cause in self._policies
        }
        self._counts = dict(self._first)
        self._stream, self._place = declared_stream(stream), f"{declared_stream(stream)}#{partition}"
        self._known: tuple[RejectedRecord, ...] = ()
        self._report = RejectionReport()
        self._show_values = show_values

    def count(self, chunk: DecodedRecords) -> str:
        """The message about a limit that these records pass; empty where they pass none."""
        if chunk.rows is None:  # those that were known before come ahead of the records around them
            self._known += chunk.bad
            return ""
        rejected, self._known = self._known + chunk.bad, ()
        read = np.sort(np.concatenate([np.asarray(chunk.rows.offset), _offsets(rejected)]))
        for cause, policy in self._policies.items():
            of_cause = [record for record in rejected if record.cause is cause]
            if not of_cause:
                if len(chunk.rows):
                    self._counts[cause] = replace(self._counts[cause], in_a_row=0)
                continue
            left_out = np.sort(_offsets(of_cause))
            self._counts[cause], excess = counted_on(self._counts[cause], read, left_out, policy.limit)
            if excess:
                return f"{self._place}: {excess}: {samples(of_cause)}"
            self._note(of_cause)
        return ""

    def count_later(self, offsets: pa.Array, rejected: Sequence[RejectedRecord]) -> str:
        """The same for records that operations have rejected after those of these offsets were counted."""
        cause = RejectionCause.RECORD
        policy = self._policies.get(cause)
        if policy is None or not rejected:
            return ""
        left_out = np.sort(_offsets(rejected))
        before = replace(self._counts[cause], in_a_row=0)
        self._counts[cause], excess = counted_on(before, np.asarray(offsets), left_out, policy.limit)
        if excess:
            return f"{self._place}: {excess}: {samples(rejected)}"
        self._note(rejected)
        return ""

    def _note(self, rejected: Sequence[RejectedRecord]) -> None:
        self._report.note(self._stream, (record.summary for record in rejected))
        records = different_reasons_first(rejected)
        self._report.sample(record.sample(with_content=self._show_values) for record in records)

    def report(self) -> RejectionReport:
        """The counts that differ from those of the order, with the reasons and samples."""
        changed = [count for cause, count in self._counts.items() if count != self._first[cause]]
        return RejectionReport(changed, self._report.reasons, self._report.samples)


def _offsets(records: Sequence[RejectedRecord]) -> npt.NDArray[np.int64]:
    return np.array([record.offset for record in records], np.int64)
