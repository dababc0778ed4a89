"""Asks Spark for executors as a driver does, with the settings that it finds, until it is told to end.

Its arguments: the folder with the accepted app, the API server, the account, the driver's pod, the Secret of
the run and the folder where it is, how many.
"""

import signal
import sys
from pathlib import Path

from streamapp_runtime.driver.executors.executor_pool import UNLIMITED_WORKERS, ExecutorPool
from streamapp_runtime.driver.modes.pod_environment import PodEnvironment
from streamapp_runtime.driver.spark.spark_session import close_session, open_configured_session


def main(
    accepted: Path, server: str, account: Path, pod: str, secret: str, folder: Path, counts: list[int]
) -> None:
    post = PodEnvironment(
        accepted,
        accepted,
        "wanted",
        "report",
        pod,
        incarnation=1,
        host="127.0.0.1",
        run_secret=secret,
        run_secret_folder=folder,
    )
    of_pod = "spark.kubernetes.authenticate."
    shape = post.spark() | {
        "spark.master": f"k8s://{server}",
        f"{of_pod}caCertFile": str(account / "ca.crt"),
        f"{of_pod}oauthTokenFile": str(account / "token"),
    }
    session = open_configured_session("calling", shape)
    pool = ExecutorPool("calling", session, lambda _: None, UNLIMITED_WORKERS)
    for count in counts:
        pool.request(count)
    signal.sigwait({signal.SIGTERM})
    close_session(session)


if __name__ == "__main__":
    _, accepted, server, account, pod, secret, folder, *counts = sys.argv
    main(Path(accepted), server, Path(account), pod, secret, Path(folder), [int(one) for one in counts])
