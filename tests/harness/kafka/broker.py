"""A real Kafka broker on this machine, one node in KRaft mode, with data of its own."""

import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.harness.kafka.jars import NEWEST, jars

_WAIT = 120.0
# Below the ports that systems hand out, so that the broker finds its own free when it starts again.
_PORTS = range(18_000, 32_000)
LOOPBACK = "127.0.0.1"
_CHANCE = random.SystemRandom()  # what seeds random numbers for tests would have all of them try the same
_GIVEN: set[int] = set()
_JVM = [
    "-Xms128m",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
    "-Dorg.slf4j.simpleLogger.showDateTime=true",
]

BROKER_SETTINGS = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "inter.broker.listener.name": "PLAINTEXT",
    "auto.create.topics.enable": "false",
    "default.replication.factor": "1",
    "offsets.topic.replication.factor": "1",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "transaction.state.log.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "0",
    "log.retention.ms": "-1",  # times that tests make up are long ago; a topic may say otherwise
    # What a test waits for comes soon: retention, compaction, the end of abandoned transactions.
    "log.initial.task.delay.ms": "100",
    "log.retention.check.interval.ms": "500",
    "log.cleaner.backoff.ms": "100",
    "log.segment.delete.delay.ms": "500",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "500",
    "log.cleaner.dedupe.buffer.size": "8388608",
    # A broker that was killed may not come back before its old session ends.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
}


class Broker:
    """One broker, whose data and ports stay the same from start to start."""

    def __init__(
        self,
        home: Path,
        settings: Mapping[str, str] | None = None,
        guards: Mapping[str, str] | None = None,
        *,
        joins: "Broker | None" = None,
        host: str = LOOPBACK,
        within: Sequence[str] = (),
        release: str = NEWEST,
    ) -> None:
        """`home` keeps everything of the broker; `settings` are the broker's own and come last.

        `guards` are further listeners with a protocol each, such as SSL. One that `joins`
        another has no cluster of its own: the other keeps it together, and is of the same release. `host` is
        where it listens, and `within` how a command is started that is to see that network.
        """
        self._joins = joins
        self.release: str = joins.release if joins else release
        self.host = host
        self._within = within
        self.told: dict[str, str] = {}  # the address that clients of a further listener are told to use
        self.features: dict[str, int] = {}  # those that its cluster has in another version than the newest
        self._guards = {name: (protocol, free_port()) for name, protocol in (guards or {}).items()}
        self.home = home
        self.log = home / "log.txt"
        self.settings = dict(settings or {})
        self._config = home / "server.properties"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.controller_port = free_port()

    @property
    def bootstrap(self) -> str:
        return f"{self.host}:{self.port}"

    def guarded(self, name: str) -> str:
        """The address of a further listener."""
        return f"{self.host}:{self._guards[name][1]}"

    @property
    def pid(self) -> int:
        assert self._process, "the broker runs"
        return self._process.pid

    def start(self) -> None:
        """Start, and wait until it answers."""
        command = self.command()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # an interrupt at the keyboard is for the tests, which stop it then
            )
        try:
            self.await_answer(self._process.poll)
        except BaseException:
            self.kill()
            raise

    def command(self) -> list[str]:
        """What starts it; its folder is made first."""
        if not self._config.exists():
            self._format()
        return [*self._within, *self._java(), "kafka.Kafka", str(self._config)]

    def await_answer(self, ended: Callable[[], object]) -> None:
        """Return when it accepts connections, which it does when it can serve."""
        ends = time.monotonic() + _WAIT
        while not answers(self.port, self.host):
            if ended() is not None:
                raise RuntimeError(f"the broker ended:\n{self._last_words()}")
            if time.monotonic() > ends:
                raise TimeoutError(f"the broker does not answer:\n{self._last_words()}")
            time.sleep(0.05)

    def stop(self) -> None:
        """End it as an administrator would."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a loss of power would, but for what the system has not yet put on disk."""
        self._end(signal.SIGKILL)

    def _end(self, number: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(number)
        try:
            self._process.wait(_WAIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def held(self, topic: str, partition: int = 0) -> int:
        """How many bytes it has of a partition, open transactions and all."""
        segments = (self.home / "data" / f"{topic}-{partition}").glob("*.log")
        return sum(segment.stat().st_size for segment in segments)

    def freeze(self) -> None:
        """Let it neither answer nor close connections until `thaw`."""
        os.kill(self.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.pid, os.WSTOPPED)  # its last thread: until then some go on, and answer

    def thaw(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def revive(self) -> None:
        """Have it run and answer, whatever a test has done to it."""
        if self._process is None:
            self.start()
        self.thaw()

    def _format(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        listeners = [f"PLAINTEXT://{self.bootstrap}"]
        listeners += [f"{name}://{self.guarded(name)}" for name in self._guards]
        told = [f"{name}://{self.told.get(name, self.guarded(name))}" for name in self._guards]
        protocols = {"CONTROLLER": "PLAINTEXT", "PLAINTEXT": "PLAINTEXT"}
        protocols |= {name: protocol for name, (protocol, _) in self._guards.items()}
        settings = {
            **BROKER_SETTINGS,
            "log.dirs": str(self.home / "data"),
            "controller.quorum.voters": f"1@{self.host}:{(self._joins or self).controller_port}",
            "listeners": ",".join([*listeners, f"CONTROLLER://{self.host}:{self.controller_port}"]),
            "listener.security.protocol.map": ",".join(map(":".join, protocols.items())),
            "advertised.listeners": ",".join([*listeners[:1], *told]),
            **self.settings,
        }
        if self._joins:
            settings |= {"process.roles": "broker", "node.id": "2", "listeners": ",".join(listeners)}
        lines = (f"{name}={value}\n" for name, value in settings.items())
        unformatted = self._config.with_suffix(".new")
        unformatted.write_text("".join(lines), encoding="utf-8")
        features = [part for item in self.features.items() for part in ("--feature", "{}={}".format(*item))]
        cluster = ("-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c", str(unformatted))
        self.run_tool("kafka.tools.StorageTool", "format", *cluster, *features)
        unformatted.rename(self._config)

    def run_tool(self, *command: str) -> None:
        """Run one of Kafka's own tools, by the name of its class."""
        run = subprocess.run([*self._java(), *command], capture_output=True, text=True, check=False)
        if run.returncode != 0:
            raise RuntimeError(f"{command[0]} failed: {run.stdout}{run.stderr}")

    def _last_words(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-4000:]

    def _java(self) -> list[str]:
        return ["java", *_JVM, "-cp", f"{jars(self.release)}/*"]


def free_port() -> int:
    """A port of loopback that nobody listens at."""
    while True:
        port = _CHANCE.choice(_PORTS)
        if port in _GIVEN:
            continue
        with socket.socket() as tried:
            tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                tried.bind((LOOPBACK, port))
            except OSError:
                continue
            _GIVEN.add(port)
            return port


def answers(port: int, host: str = LOOPBACK) -> bool:
    """Whether connections to this port are accepted."""
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True
