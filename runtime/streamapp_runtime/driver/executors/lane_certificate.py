"""The certificate by which lanes know the driver of an encrypted run.

Java makes it, since every driver has a Java: Python's library reads certificates and makes none. The key
exists in this process only. The certificate travels to the lanes in Spark's closures, which are encrypted in
such a run; so lanes trust this one and no authority.
"""

import base64
import os
import secrets
import ssl
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyspark import SparkContext

_ALIAS: Final = "lanes"
_PASSWORD: Final = "STREAMAPP_KEY_STORE_PASSWORD"  # noqa: S105 - the name of a variable
_PEM_KEY: Final = "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----\n"
_OPTIONS: Final = (
    *("-keyalg", "EC", "-groupname", "secp256r1", "-dname", "CN=streamapp-lanes", "-storetype", "PKCS12"),
    *("-startdate", "-1y", "-validity", "36500"),  # clocks of nodes differ, and its run bounds its life
    *("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"),
)


@dataclass(frozen=True, slots=True)
class LaneCertificate:
    """A certificate, and what serves connections by it."""

    certificate: str  # as PEM
    context: ssl.SSLContext


def make_certificate(spark: SparkContext) -> LaneCertificate:
    """A certificate with a key of its own, for one run."""
    gateway: Any = spark._gateway  # noqa: SLF001 - Python has no way to the driver's Java
    jvm, password = gateway.jvm, secrets.token_hex(16)
    with tempfile.TemporaryDirectory(prefix="streamapp-keys-") as name:
        file = Path(name, "keys")
        _make_keys(Path(jvm.System.getProperty("java.home"), "bin", "keytool"), file, password)
        characters = gateway.new_array(jvm.char, len(password))  # a String would come back as Python's
        for index, character in enumerate(password):
            characters[index] = character
        store = jvm.java.security.KeyStore.getInstance(jvm.java.io.File(str(file)), characters)
        encoded = _encoded(gateway, "java.security.cert.Certificate", store.getCertificate(_ALIAS))
        key = _encoded(gateway, "java.security.Key", store.getKey(_ALIAS, characters))
        certificate = ssl.DER_cert_to_PEM_cert(encoded)
        chain = Path(name, "chain")
        chain.write_text(certificate + _PEM_KEY.format(base64.encodebytes(key).decode()), "ascii")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.num_tickets = 0  # a lane that comes again begins again
        context.load_cert_chain(chain)
    return LaneCertificate(certificate, context)


def _make_keys(keytool: Path, file: Path, password: str) -> None:
    command = [str(keytool), "-genkeypair", "-alias", _ALIAS, *_OPTIONS]
    command += ["-keystore", str(file), "-storepass:env", _PASSWORD]
    made = subprocess.run(  # noqa: S603 - Java's own, with arguments of this file
        command, env={**os.environ, _PASSWORD: password}, capture_output=True, check=False
    )
    if made.returncode:
        raise OSError(f"{keytool} made no key: {(made.stdout + made.stderr).decode(errors='replace')}")


def _encoded(gateway: Any, interface: str, encodable: Any) -> bytes:
    """The bytes of `getEncoded`; py4j sees no method of classes that implement such interfaces in Java."""
    jvm = gateway.jvm
    no_types = gateway.new_array(jvm.java.lang.Class, 0)
    method = jvm.java.lang.Class.forName(interface).getMethod("getEncoded", no_types)
    return bytes(method.invoke(encodable, gateway.new_array(jvm.java.lang.Object, 0)))
