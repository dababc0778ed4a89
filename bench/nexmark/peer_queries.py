"""The queries that Kafka Streams, Spark and Flink are measured by, and why each of the others is left out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class PeerQuery:
    """A query as a peer is asked it, and the rows of its output that are compared."""

    sql: str = ""
    """Its own dialect, where that of the examples is not understood."""
    key: str = ""
    """The columns whose newest row counts; where there are none, every row does."""
    closed: str = "true"
    """A condition that holds for rows of windows that are closed before the streams end."""


CALCULATION: Final = PeerQuery(
    """SELECT auction, bidder, 0.908 * price AS price,
  CASE WHEN hour(dateTime) >= 8 AND hour(dateTime) <= 18 THEN 'dayTime'
       WHEN hour(dateTime) <= 6 OR hour(dateTime) >= 20 THEN 'nightTime'
       ELSE 'otherTime' END AS bidTimeType,
  dateTime, extra, char_length(extra) - char_length(replace(extra, 'c', '')) AS c_counts
FROM bid
WHERE 0.908 * price > 1000000 AND 0.908 * price < 50000000"""
)
CHANNEL_IDS: Final = PeerQuery(
    """SELECT auction, bidder, price, channel,
  CASE WHEN lower(channel) = 'apple' THEN '0'
       WHEN lower(channel) = 'google' THEN '1'
       WHEN lower(channel) = 'facebook' THEN '2'
       WHEN lower(channel) = 'baidu' THEN '3'
       ELSE regexp_extract(url, '(&|^)channel_id=([^&]*)', 2) END AS channel_id
FROM bid
WHERE regexp(url, '(&|^)channel_id=([^&]*)') OR lower(channel) IN ('apple', 'google', 'facebook', 'baidu')"""
)
STATISTICS: Final = """SELECT auction, CAST(CAST(dateTime AS DATE) AS STRING) AS {day},
  count(*) AS total_bids,
  count(*) FILTER (WHERE price < 10000) AS rank1_bids,
  count(*) FILTER (WHERE price >= 10000 AND price < 1000000) AS rank2_bids,
  count(*) FILTER (WHERE price >= 1000000) AS rank3_bids,
  min(price) AS min_price, max(price) AS max_price,
  sum(price) {div} count(*) AS avg_price, sum(price) AS sum_price
FROM bid
GROUP BY auction, CAST(CAST(dateTime AS DATE) AS STRING)"""

OF_STREAMS: Final[Mapping[str, PeerQuery]] = {
    **{
        name: PeerQuery()
        for name in ("q0", "q1", "q2", "q3-tables", "q3-within", "q13", "q14", "q20", "q21", "q22")
    },
    "q8": PeerQuery(key="id, starttime"),
    "q11": PeerQuery(key="bidder, starttime, endtime"),
    "q17": PeerQuery(key="auction, day"),
    "q18": PeerQuery(key="auction, bidder"),
}
"""The names of `NexmarkStreams`. Windows are put out as updates: one that is not closed has its row."""

OF_SPARK: Final[Mapping[str, PeerQuery]] = {
    **{name: PeerQuery() for name in ("q0", "q1", "q2", "q13", "q22")},
    "q11": PeerQuery(
        """SELECT bidder, count(*) AS bid_count,
  session_window.start AS starttime, session_window.end AS endtime
FROM bid GROUP BY bidder, session_window(dateTime, '10 seconds')""",
        closed="endtime < (SELECT max(dateTime) - INTERVAL 10 SECONDS FROM bid)",
    ),
    "q14": CALCULATION,
    "q17": PeerQuery(STATISTICS.format(day="day", div="div"), key="auction, day"),
    "q21": CHANNEL_IDS,
}

OF_FLINK: Final[Mapping[str, PeerQuery]] = {
    **{name: PeerQuery() for name in ("q0", "q1", "q2", "q3-within", "q20")},
    "q8": PeerQuery(
        """SELECT P.id, P.name, P.window_start AS starttime
FROM (
  SELECT id, name, window_start, window_end
  FROM TABLE(TUMBLE(TABLE person, DESCRIPTOR(dateTime), INTERVAL '10' SECOND))
  GROUP BY id, name, window_start, window_end) AS P
JOIN (
  SELECT seller, window_start, window_end
  FROM TABLE(TUMBLE(TABLE auction, DESCRIPTOR(dateTime), INTERVAL '10' SECOND))
  GROUP BY seller, window_start, window_end) AS A
ON P.id = A.seller AND P.window_start = A.window_start AND P.window_end = A.window_end"""
    ),
    "q11": PeerQuery(
        """SELECT bidder, count(*) AS bid_count, window_start AS starttime, window_end AS endtime
FROM TABLE(SESSION(TABLE bid PARTITION BY bidder, DESCRIPTOR(dateTime), INTERVAL '10' SECOND))
GROUP BY bidder, window_start, window_end"""
    ),
    "q14": CALCULATION,
    "q17": PeerQuery(STATISTICS.format(day="`day`", div="/"), key="auction, day"),
    "q18": PeerQuery(
        """SELECT auction, bidder, price, channel, url, dateTime, extra
FROM (SELECT *, row_number() OVER (PARTITION BY bidder, auction ORDER BY dateTime DESC) AS place FROM bid)
WHERE place <= 1""",
        key="auction, bidder",
    ),
    "q21": CHANNEL_IDS,
    "q22": PeerQuery(
        """SELECT auction, bidder, price, channel,
  split_index(url, '/', 3) AS dir1, split_index(url, '/', 4) AS dir2, split_index(url, '/', 5) AS dir3
FROM bid"""
    ),
}

SAME_JOIN: Final = "its join is that of q3-within"
LEFT_OUT: Final[Mapping[str, Mapping[str, str]]] = {
    "streams": dict.fromkeys(
        ("q5", "q7"),
        "the maximum of a window over all keys is never final, and each change takes rows back",
    ),
    "spark": {
        "q3-tables": SAME_JOIN,
        **dict.fromkeys(
            ("q3-within", "q20"), "a join of streams without a bound of time keeps all rows of both"
        ),
        **dict.fromkeys(
            ("q5", "q7", "q8"),
            "a join of windows comes out after several watermarks, and there are ten micro-batches",
        ),
        "q18": "max_by takes any of the bids that have the same time",
    },
    "flink": {
        "q3-tables": SAME_JOIN,
        **dict.fromkeys(("q5", "q7"), "their windows are those of q8 and q11, joined"),
        "q13": "a lookup join takes a table of another system, and the side input is a topic",
    },
}
"""Why a peer, by the prefix of its topics, is not asked the other queries."""
