"""The versions of requests: those that are known here, those that a broker has, and the newest of both.

A broker is asked first for what it has (KIP-35), and for the features its cluster has agreed on (KIP-584).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from streamapp_runtime.systems.kafka.wire.requests.error_codes import UNSUPPORTED, error_name
from streamapp_runtime.systems.kafka.wire.requests.request_fields import RequestBody, ResponseReader
from streamapp_runtime.systems.stream_system import DeniedError

NEWEST_RELEASE: Final = "4.3"
"""The newest release of Kafka that is tested."""
_CLIENT, _CLIENT_VERSION = "streamapp", "1"  # as brokers count connections
_TRANSACTIONS = "transaction.version"
_EPOCH_PER_TRANSACTION = 2
_FEATURES_EPOCH_TAG, _FINALIZED_FEATURES_TAG = 1, 2


@dataclass(frozen=True, slots=True)
class BrokerRequest:
    """A request by the protocol's name and number, and the versions that can be written and read here."""

    name: str
    key: int
    oldest: int
    newest: int
    flexible_from: int
    since: str  # the release of Kafka that has the oldest
    begins_with_throttle: bool = True  # its answer, with how long a quota wants its client to wait


PRODUCE = BrokerRequest("Produce", 0, 7, 11, 9, "2.1", False)
PRODUCE_ADDING = BrokerRequest("Produce", 0, 12, 12, 9, "4.0", False)
"""Adds partitions to the transaction by itself."""
FETCH = BrokerRequest("Fetch", 1, 11, 11, 12, "2.3")
LIST_OFFSETS = BrokerRequest("ListOffsets", 2, 4, 5, 6, "2.1")
METADATA = BrokerRequest("Metadata", 3, 7, 7, 9, "2.1")
FIND_COORDINATOR = BrokerRequest("FindCoordinator", 10, 2, 2, 3, "2.0")
SASL_HANDSHAKE = BrokerRequest("SaslHandshake", 17, 1, 1, 2, "1.0", False)
API_VERSIONS = BrokerRequest("ApiVersions", 18, 0, 3, 3, "0.10", False)
INIT_PRODUCER_ID = BrokerRequest("InitProducerId", 22, 1, 5, 2, "2.0")
ADD_PARTITIONS = BrokerRequest("AddPartitionsToTxn", 24, 1, 3, 3, "2.0")
SASL_AUTHENTICATE = BrokerRequest("SaslAuthenticate", 36, 1, 1, 2, "2.2", False)
OFFSET_FOR_LEADER_EPOCH = BrokerRequest("OffsetForLeaderEpoch", 23, 3, 3, 4, "2.3")
END_TRANSACTION = BrokerRequest("EndTxn", 26, 1, 4, 3, "2.0")
END_EPOCH = BrokerRequest("EndTxn", 26, 5, 5, 3, "4.0")
"""Ends the transaction's epoch too, and is answered with the next one."""


@dataclass(frozen=True, slots=True)
class ClusterFeatures:
    """The features that a cluster has agreed on, as one of its brokers has heard of them."""

    epoch: int = -1  # grows with each change
    levels: Mapping[str, int] = field(default_factory=dict)

    @property
    def has_epoch_per_transaction(self) -> bool:
        """True if each transaction has an epoch of its own (KIP-890)."""
        return self.levels.get(_TRANSACTIONS, 0) >= _EPOCH_PER_TRANSACTION


@dataclass(frozen=True, slots=True)
class BrokerVersions:
    """The oldest and newest version of each request that a broker has, and its cluster's features."""

    by_key: Mapping[int, tuple[int, int]]
    features: ClusterFeatures

    def newest(self, request: BrokerRequest, broker: object) -> int:
        """The newest version that both sides know; DeniedError where there is none."""
        oldest, newest = self.by_key.get(request.key, (0, -1))
        version = min(newest, request.newest)
        if version >= max(oldest, request.oldest):
            return version
        known = f"it has {oldest} to {newest}" if newest >= 0 else "it has none"
        raise DeniedError(
            f"{broker} does not have {request.name} in a version from {request.oldest} to {request.newest} "
            f"({known}), which brokers of Kafka {request.since} to {NEWEST_RELEASE} do"
        )


def ask_versions(ask: Callable[[int], ResponseReader]) -> BrokerVersions:
    """The versions of a broker; `ask` sends ApiVersions in a version and gives the answer."""
    answer = ask(API_VERSIONS.newest)
    error = answer.int16()
    if error == UNSUPPORTED:  # said in the oldest version, by brokers before 2.4
        answer = ask(API_VERSIONS.oldest)
        error = answer.int16()
    if error:
        raise ConnectionError(f"asked for its versions: {error_name(error)}")
    by_key = dict(answer.list(_request))
    if answer.version == API_VERSIONS.oldest:
        return BrokerVersions(by_key, ClusterFeatures())
    answer.int32()  # how long it was throttled
    tags = answer.tags()
    if not {_FEATURES_EPOCH_TAG, _FINALIZED_FEATURES_TAG} <= tags.keys():
        return BrokerVersions(by_key, ClusterFeatures())
    levels = dict(tags[_FINALIZED_FEATURES_TAG].list(_feature))
    return BrokerVersions(by_key, ClusterFeatures(tags[_FEATURES_EPOCH_TAG].int64(), levels))


def write_api_versions(body: RequestBody) -> None:
    """The question for a broker's versions, with who asks."""
    if body.version >= API_VERSIONS.flexible_from:
        body.text(_CLIENT).text(_CLIENT_VERSION).tags()


def _request(answer: ResponseReader) -> tuple[int, tuple[int, int]]:
    key, oldest, newest = answer.int16(), answer.int16(), answer.int16()
    answer.tags()
    return key, (oldest, newest)


def _feature(answer: ResponseReader) -> tuple[str, int]:
    name, level = answer.text() or "", answer.int16()
    answer.int16()  # the lowest level
    answer.tags()
    return name, level
