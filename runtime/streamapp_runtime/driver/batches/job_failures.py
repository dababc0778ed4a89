"""What a failed job says of itself, and whether a process ended: then no record is to blame."""

SIGNS = ("ExecutorLostFailure", "Python worker exited unexpectedly", "SparkContext was shut down")
NOISE = ("Caused by:", "Driver stacktrace", "Traceback", "JVM stacktrace")


def is_process_loss(error: Exception) -> bool:
    """Whether an executor, a Python worker or Spark itself was lost, as far as the message tells."""
    said = str(error)
    return any(sign in said for sign in SIGNS)


def failure_reason(error: Exception) -> str:
    """What a failure says, in one line: of a traceback, the last line."""
    for sign in SIGNS:
        if sign in str(error):
            return f"a process was lost ({sign})"
    said = [line.strip() for line in str(error).splitlines() if line[:1].isalpha()]
    said = [line for line in said if not line.startswith(NOISE)]
    return said[-1] if said else type(error).__name__
