"""The protocol's error codes: what each is called, and what is to be done about it."""

from enum import Enum


class ErrorReaction(Enum):
    """The reaction that an error asks for."""

    RETRY = "ask again"
    LOOK = "look the leader or coordinator up again, then retry"
    FENCED = "a newer incarnation has taken over"
    DENIED = "who asks may not"
    UNKNOWN = "there is no such stream"
    GONE = "the offset is not there"
    REFUSED = "such a record is never taken"
    ABORT = "the transaction has to be aborted, and the next one may begin"
    FATAL = "the producer has to start again"


UNSUPPORTED = 35
_KNOWN = {
    -1: ("UNKNOWN_SERVER_ERROR", ErrorReaction.FATAL),
    1: ("OFFSET_OUT_OF_RANGE", ErrorReaction.GONE),
    2: ("CORRUPT_MESSAGE", ErrorReaction.FATAL),
    3: ("UNKNOWN_TOPIC_OR_PARTITION", ErrorReaction.UNKNOWN),
    5: ("LEADER_NOT_AVAILABLE", ErrorReaction.LOOK),
    6: ("NOT_LEADER_OR_FOLLOWER", ErrorReaction.LOOK),
    7: ("REQUEST_TIMED_OUT", ErrorReaction.RETRY),
    8: ("BROKER_NOT_AVAILABLE", ErrorReaction.LOOK),
    9: ("REPLICA_NOT_AVAILABLE", ErrorReaction.LOOK),
    10: ("MESSAGE_TOO_LARGE", ErrorReaction.REFUSED),
    13: ("NETWORK_EXCEPTION", ErrorReaction.LOOK),
    14: ("COORDINATOR_LOAD_IN_PROGRESS", ErrorReaction.LOOK),  # a deposed one says so for ever
    15: ("COORDINATOR_NOT_AVAILABLE", ErrorReaction.LOOK),
    16: ("NOT_COORDINATOR", ErrorReaction.LOOK),
    18: ("RECORD_LIST_TOO_LARGE", ErrorReaction.REFUSED),
    19: ("NOT_ENOUGH_REPLICAS", ErrorReaction.RETRY),
    20: ("NOT_ENOUGH_REPLICAS_AFTER_APPEND", ErrorReaction.RETRY),
    29: ("TOPIC_AUTHORIZATION_FAILED", ErrorReaction.DENIED),
    31: ("CLUSTER_AUTHORIZATION_FAILED", ErrorReaction.DENIED),
    32: ("INVALID_TIMESTAMP", ErrorReaction.REFUSED),
    33: ("UNSUPPORTED_SASL_MECHANISM", ErrorReaction.DENIED),
    34: ("ILLEGAL_SASL_STATE", ErrorReaction.DENIED),
    UNSUPPORTED: ("UNSUPPORTED_VERSION", ErrorReaction.FATAL),
    45: ("OUT_OF_ORDER_SEQUENCE_NUMBER", ErrorReaction.FATAL),
    46: ("DUPLICATE_SEQUENCE_NUMBER", ErrorReaction.FATAL),
    47: ("INVALID_PRODUCER_EPOCH", ErrorReaction.FENCED),
    48: ("INVALID_TXN_STATE", ErrorReaction.FATAL),
    49: ("INVALID_PRODUCER_ID_MAPPING", ErrorReaction.FATAL),
    50: ("INVALID_TRANSACTION_TIMEOUT", ErrorReaction.FATAL),
    51: ("CONCURRENT_TRANSACTIONS", ErrorReaction.RETRY),
    53: ("TRANSACTIONAL_ID_AUTHORIZATION_FAILED", ErrorReaction.DENIED),
    56: ("KAFKA_STORAGE_ERROR", ErrorReaction.LOOK),
    58: ("SASL_AUTHENTICATION_FAILED", ErrorReaction.DENIED),
    59: ("UNKNOWN_PRODUCER_ID", ErrorReaction.FATAL),
    74: ("FENCED_LEADER_EPOCH", ErrorReaction.LOOK),
    75: ("UNKNOWN_LEADER_EPOCH", ErrorReaction.LOOK),
    76: ("UNSUPPORTED_COMPRESSION_TYPE", ErrorReaction.FATAL),
    78: ("OFFSET_NOT_AVAILABLE", ErrorReaction.RETRY),
    87: ("INVALID_RECORD", ErrorReaction.REFUSED),
    90: ("PRODUCER_FENCED", ErrorReaction.FENCED),
    100: ("UNKNOWN_TOPIC_ID", ErrorReaction.UNKNOWN),
    120: ("TRANSACTION_ABORTABLE", ErrorReaction.ABORT),
}

ERROR_HINTS = {
    10: "the topic's max.message.bytes says how large records may be",
    18: "the topic's segment.bytes says how large records may be that are written at once",
    32: "a record has the time of its event, and the topic's message.timestamp.before.max.ms and "
    "message.timestamp.after.max.ms say how far from the broker's time that may be",
    87: "a topic that is compacted takes no record without a key",
}
"""What has to change for a record to be taken that was refused."""


def error_name(code: int) -> str:
    """The name of the error in the protocol."""
    return _KNOWN[code][0] if code in _KNOWN else f"error {code}"


def error_reaction(code: int) -> ErrorReaction:
    """The reaction that the error asks for; an error of a newer broker ends what was being done."""
    return _KNOWN[code][1] if code in _KNOWN else ErrorReaction.FATAL
