"""A broker that lets in only who comes by TLS and knows a password."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.harness.kafka.broker import Broker, free_port

USER, PASSWORD = "app", "correct-horse-battery-staple"


def certificate(folder: Path, name: str) -> tuple[str, str]:
    """A certificate for this host that vouches for itself, and its key, both as PEM."""
    key, cert = folder / f"{name}.key", folder / f"{name}.crt"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        f"/CN={name}",
    ]
    command += [
        "-days",
        "2",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        str(key),
        "-out",
        str(cert),
    ]
    subprocess.run(command, check=True, capture_output=True)
    return cert.read_text(), key.read_text()


def guarded(folder: Path) -> tuple[Broker, str, str]:
    """The broker, its guarded address, and the certificate that it shows."""
    folder.mkdir(parents=True, exist_ok=True)
    cert, key = certificate(folder, "broker")
    (folder / "broker.pem").write_text(key + cert)
    broker, port = Broker(folder / "broker"), free_port()
    address = f"127.0.0.1:{port}"
    plain = f"PLAINTEXT://{broker.bootstrap}"
    login = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    broker.settings |= {
        "listeners": f"{plain},CONTROLLER://127.0.0.1:{broker.controller_port},GUARDED://{address}",
        "advertised.listeners": f"{plain},GUARDED://{address}",
        "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,GUARDED:SASL_SSL",
        "sasl.enabled.mechanisms": "PLAIN",
        "listener.name.guarded.plain.sasl.jaas.config": f'{login} user_{USER}="{PASSWORD}";',
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(folder / "broker.pem"),
    }
    return broker, address, cert


def secrets(folder: Path, cert: str, password: str = PASSWORD) -> Path:
    """The entries of the Secret of an app that is let in, unless the password is another one."""
    entries = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": USER,
        "sasl.password": password,
        "ssl.ca.pem": cert,
    }
    return mounted(folder, entries)


def mounted(folder: Path, entries: Mapping[str, str]) -> Path:
    """Entries of a Secret as they are mounted: a folder of links, beside a hidden one."""
    hidden = folder / "..2026_11_20"
    hidden.mkdir(parents=True)
    for name, value in entries.items():
        (hidden / name).write_text(value + "\n")
        (folder / name).symlink_to(Path(hidden.name, name))
    return folder
