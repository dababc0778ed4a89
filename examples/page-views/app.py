"""Page views joined with their users: the program whose resource is `app.yaml`."""

from streamapp.dsl import App, EventTime, SideInput

app = App("page-views", namespace="shop", application_id="shop.page-views", processors=4)
main = app.embedded("main", path="data")

views = main.stream(
    "views",
    topic="page-views",
    key="user",
    columns="user STRING, page STRING, ts TIMESTAMP",
    event_time=EventTime(column="ts", delay="5s"),
)
users = main.stream("users", key="user", columns="user STRING, country STRING, tier INT")
enriched = main.stream("enriched", key="user")

profiles = app.table("users", side_inputs=[SideInput(stream="users", bootstrap=True)])

(
    views.filter("real", where="page NOT LIKE '/health%'")
    .partition_by("by-user", key="user")
    .join_table("joined", profiles, select="user, page, country")
    .send_to("out", enriched)
)
