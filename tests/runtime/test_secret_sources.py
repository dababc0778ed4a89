"""Which variables and files of a container are values of Secrets, by its pod's template."""

from pathlib import Path

from streamapp_runtime.secret_sources import NO_SECRETS, SecretSources

ENVIRONMENT = {
    "PATH": "/bin",
    "HOSTNAME": "app-driver-1",
    "KUBERNETES_SERVICE_HOST": "10.0.0.1",
    "REDIS_PORT_6379_TCP_ADDR": "10.0.0.2",
    "STREAMAPP_STATE": "/state",
    "PLAIN": "plain",
    "WORD": "of-one-key",
    "DB_USER": "of-a-prefix",
    "TOKEN": "of-all-keys",
}


def pod(container: dict[str, object], **spec: object) -> dict[str, object]:
    return {"containers": [{"name": "sidecar", "env": []}, {"name": "driver", **container}], **spec}


def test_a_variable_of_one_key_counts_and_a_plain_one_does_not() -> None:
    env = [
        {"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "words", "key": "word"}}},
        {"name": "PLAIN", "value": "plain"},
        {"name": "TOKEN", "valueFrom": {"configMapKeyRef": {"name": "map", "key": "k"}}},
    ]
    assert SecretSources.of_pod(pod({"env": env}), "driver").values(ENVIRONMENT) == {"of-one-key"}


def test_of_a_whole_secret_every_variable_counts_that_nothing_else_accounts_for() -> None:
    container = {"env": [{"name": "PLAIN", "value": "plain"}], "envFrom": [{"secretRef": {"name": "words"}}]}
    values = SecretSources.of_pod(pod(container), "driver").values(ENVIRONMENT)
    assert values == {"of-one-key", "of-a-prefix", "of-all-keys"}


def test_a_prefix_says_which_variables_are_of_a_secret() -> None:
    sources = [{"prefix": "DB_", "secretRef": {"name": "db"}}, {"configMapRef": {"name": "map"}}]
    assert SecretSources.of_pod(pod({"envFrom": sources}), "driver").values(ENVIRONMENT) == {"of-a-prefix"}


def test_files_of_secret_volumes_count_and_those_of_others_do_not(tmp_path: Path) -> None:
    for name in ("secret", "projected", "map", "binary"):
        mounted = tmp_path / name / "..2026"
        mounted.mkdir(parents=True)
        (mounted / "key").write_bytes(b"\x00\x01in-binary" if name == "binary" else f"in-{name}\n".encode())
        (tmp_path / name / "..data").symlink_to("..2026")
        (tmp_path / name / "key").symlink_to("..data/key")
    volumes = [
        {"name": "secret", "secret": {"secretName": "words"}},
        {"name": "projected", "projected": {"sources": [{"secret": {"name": "words"}}]}},
        {"name": "map", "configMap": {"name": "map"}},
        {"name": "binary", "secret": {"secretName": "keys"}},
    ]
    mounts = [
        {"name": volume["name"], "mountPath": str(tmp_path / str(volume["name"]))} for volume in volumes
    ]
    mounts[0]["mountPath"] += "/key"  # by a subPath, one file
    spec = pod({"volumeMounts": mounts}, volumes=volumes)
    assert SecretSources.of_pod(spec, "driver").values({}) == {"in-secret", "in-projected"}


def test_another_container_and_a_pod_that_is_not_told_have_none() -> None:
    env = [{"name": "WORD", "valueFrom": {"secretKeyRef": {"name": "words", "key": "word"}}}]
    assert SecretSources.of_pod(pod({"env": env}), "spark").values(ENVIRONMENT) == frozenset()
    assert SecretSources.of_pod({}, "driver") == NO_SECRETS
    assert NO_SECRETS.values(ENVIRONMENT) == frozenset()
