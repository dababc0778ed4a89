"""Functions and classes as an app's team would write them."""

import pyarrow as pa
import pyarrow.compute as pc


def shouted(batch):
    return pa.RecordBatch.from_pydict({"extra": batch["page"], "page": pc.utf8_upper(batch["page"])})


def halved(batch):
    return batch.slice(0, batch.num_rows // 2)


def twice(batch):
    """Each row twice, by name of the row it is made of."""
    rows = pa.array([row for row in range(batch.num_rows) for _ in range(2)])
    return batch.take(rows).append_column("__row", rows)


def twice_of_nowhere(batch):
    return pa.concat_batches([batch, batch])


def of_rows_that_are_not_there(batch):
    return batch.append_column("__row", pa.array([batch.num_rows] * batch.num_rows))


def nameless(batch):
    return batch.rename_columns(["something"])


def wrongly_typed(batch):
    return pa.RecordBatch.from_pydict({"page": pa.array([[1]] * batch.num_rows)})


def no_batch(batch):
    return batch.to_pylist()


def failing(batch):
    raise KeyError(f"no such page in {batch.num_rows} rows")


not_callable = 7


class Visits:
    """Counts visits in a table of its own, keeps the last page in one of the app's, and puts both out."""

    state_columns = pa.schema([("visits", pa.int64())])
    log: list[str] = []  # noqa: RUF012

    def open(self, context):
        self.log.append(f"open {context.operator} {sorted(context.tables)}")

    def process(self, batch, state, out):
        for row in range(batch.num_rows):
            key = batch["__key"].slice(row, 1)
            if batch["__tombstone"][row].as_py():
                state["last"].delete(key)
                state.own.delete(key)
                continue
            visits = (state.own.get(key)["visits"][0].as_py() or 0) + 1
            state.own.put(key, pa.RecordBatch.from_pydict({"visits": [visits]}))
            before = state["last"].get(key)["page"]
            state["last"].put(key, batch.select(["page"]).slice(row, 1))
            out(pa.RecordBatch.from_pydict({"visits": [visits], "before": before, "__row": [row]}))

    def close(self):
        self.log.append("close")


class Careless:
    def process(self, batch, state, out):
        state["nobody named this"].get(batch["__key"])


class Stateless:
    def process(self, batch, state, out):
        state.own.get(batch["__key"])
