"""How much is measured over Kafka; a smaller machine says less by the environment.

`STREAMAPP_BENCH_VIEWS` page views go through what is fast, `STREAMAPP_BENCH_STOCK_BATCH` make one micro-batch
of Spark's own ways. Rates are by CPU second, so that a slow one may be measured with fewer rows.
"""

import os

VIEWS = int(os.environ.get("STREAMAPP_BENCH_VIEWS", "4000000"))
WARM = VIEWS // 4
"""Views that are left out of rates: compilers are at work in them."""
BATCH = VIEWS // 8
STOCK_BATCH = int(os.environ.get("STREAMAPP_BENCH_STOCK_BATCH", "500000"))
STOCK_BATCHES = 3  # the first of which is left out
