"""Container images of the lab."""

import io
import json
import tarfile

import pytest
from stockman_lab.images.container import (
    container_image,
    digest_of,
    index_of,
    layer_facts,
)
from stockman_lab.images.facts import CorruptImage

from lab.tests.images.made import facts


def test_an_image_is_the_same_each_time_and_says_what_it_is() -> None:
    image = container_image(facts(0), "installer")

    assert image == container_image(facts(0), "installer")
    assert layer_facts(image.layer) == facts(0)
    data = json.loads(image.manifest)
    assert data["config"]["digest"] == digest_of(image.config)
    assert data["layers"][0]["size"] == len(image.layer)
    assert set(image.blobs) == {data["config"]["digest"], data["layers"][0]["digest"]}


def test_an_index_names_its_architectures() -> None:
    image = container_image(facts(0), "installer")

    (entry,) = json.loads(index_of([image]))["manifests"]

    assert entry["platform"] == {"architecture": "amd64", "os": "linux"}
    assert entry["digest"] == digest_of(image.manifest)


def test_a_layer_of_somebody_else_says_nothing() -> None:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("a"))

    assert layer_facts(raw.getvalue()) is None


@pytest.mark.parametrize("noise", [b"", b"no layer", b"\x1f\x8b\x08\x00"])
def test_a_damaged_layer_is_refused(noise: bytes) -> None:
    with pytest.raises(CorruptImage):
        layer_facts(noise)
