"""The images of a release are an archive that Docker and a cluster without a registry take."""

import gzip
import hashlib
import json
import tarfile
import tomllib
from pathlib import Path

from tests.harness.cluster.cluster_programs import REPOSITORY
from tests.harness.cluster.kind_cluster import Cluster

BUILD_LIMIT = 1800
TEXT = (REPOSITORY / "pyproject.toml").read_text("utf-8")
VERSION: str = tomllib.loads(TEXT)["project"]["version"]
IMAGES = [f"streamapp-{part}:{VERSION}" for part in ("operator", "runtime")]


def test_a_release_with_images_has_both_in_one_archive_that_can_be_loaded(
    kind: Cluster, tmp_path: Path
) -> None:
    programs = kind.programs
    programs.run("env", "IMAGES=1", REPOSITORY / ".ci" / "dist", tmp_path, limit=BUILD_LIMIT)
    archive = tmp_path / "images" / f"streamapp-images-{VERSION}.tar.gz"
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest()
    assert f"{checksum}  images/{archive.name}" in (tmp_path / "SHA256SUMS").read_text("utf-8").splitlines()
    with gzip.open(archive) as unpacked, tarfile.open(fileobj=unpacked) as images:
        manifest = images.extractfile("manifest.json")
        assert manifest is not None
        assert sorted(tag for image in json.load(manifest) for tag in image["RepoTags"]) == IMAGES
    programs.run("docker", "image", "rm", *IMAGES)
    assert "Loaded image" in programs.run("docker", "load", "--input", archive, limit=BUILD_LIMIT)
    assert programs.run("docker", "run", "--rm", IMAGES[1], "streamapp", "--version").split()[-1] == VERSION
    programs.run("docker", "image", "rm", *IMAGES)
