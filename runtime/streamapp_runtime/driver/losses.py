"""Whether a job failed because a process ended: then no record is to blame, however often it happens."""

SIGNS = ("ExecutorLostFailure", "Python worker exited unexpectedly", "SparkContext was shut down")


def lost(error: Exception) -> bool:
    """Whether an executor, a Python worker or Spark itself was lost, as far as the message tells."""
    said = str(error)
    return any(sign in said for sign in SIGNS)
