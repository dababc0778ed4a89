"""How many visits to each campaign's pages lead to a cart, and how many to a purchase, by the hour.

Windows over windows: what a visitor does within a session becomes one row, and these are counted by the hour
in which the sessions ended.
"""

from streamapp.dsl import App, EventTime, Session, Tumbling, Window

app = App("funnel", namespace="examples")
main = app.embedded("main", path="data")

steps = main.stream(
    "steps",
    key="user",
    columns="user STRING, campaign STRING, step STRING, ts BIGINT",
    event_time=EventTime(column="ts", unit="milliseconds", delay="1m"),
)
funnel = main.stream("funnel", key="campaign")

sessions = steps.map(
    "times",
    select="user, campaign, "
    "CASE WHEN step = 'view' THEN ts END AS view_at, "
    "CASE WHEN step = 'cart' THEN ts END AS cart_at, "
    "CASE WHEN step = 'buy' THEN ts END AS buy_at",
).aggregate(
    "sessions",
    key="user, campaign",
    aggregates="min(view_at) AS view_at, max(cart_at) AS cart_at, max(buy_at) AS buy_at",
    window=Window(session=Session(gap="30m")),
)

# A step counts if the one before it was taken, and earlier.
reached = sessions.map(
    "reached",
    select="campaign, "
    "CASE WHEN view_at IS NOT NULL THEN 1 ELSE 0 END AS viewed, "
    "CASE WHEN cart_at > view_at THEN 1 ELSE 0 END AS carted, "
    "CASE WHEN cart_at > view_at AND buy_at > cart_at THEN 1 ELSE 0 END AS bought",
)

(
    reached.partition_by("by-campaign", key="campaign")
    .aggregate(
        "hourly",
        key="campaign",
        aggregates="sum(viewed) AS viewed, sum(carted) AS carted, sum(bought) AS bought",
        window=Window(tumbling=Tumbling(size="1h")),
    )
    .send_to("out", funnel)
)
