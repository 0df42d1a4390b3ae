"""Container images, small and real: manifest, configuration and a layer that says what it is."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stockman_lab.images.facts import CorruptImage, ImageFacts, facts_area, facts_in

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
FACTS_FILE = "usr/install/facts"
_CREATED = "2026-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerImage:
    """An image for one architecture."""

    manifest: bytes
    config: bytes
    layer: bytes
    architecture: str

    @property
    def blobs(self) -> dict[str, bytes]:
        return {digest_of(one): one for one in (self.config, self.layer)}


def digest_of(content: bytes) -> str:
    """The name of a content in a registry."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def container_image(facts: ImageFacts, title: str) -> ContainerImage:
    """An image that holds what its facts say, the same bytes for the same facts."""
    unpacked = _archive({FACTS_FILE: facts_area(facts)})
    layer = gzip.compress(unpacked, mtime=0)
    labels = {
        "org.opencontainers.image.title": title,
        "org.opencontainers.image.version": facts.version,
    }
    config = _json(
        {
            "architecture": facts.architecture,
            "config": {"Entrypoint": [f"/usr/bin/{title}"], "Labels": labels},
            "created": _CREATED,
            "history": [{"created": _CREATED, "created_by": title}],
            "os": "linux",
            "rootfs": {"diff_ids": [digest_of(unpacked)], "type": "layers"},
        }
    )
    manifest = _json(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": descriptor(CONFIG, config),
            "layers": [descriptor(LAYER, layer)],
        }
    )
    return ContainerImage(
        manifest=manifest, config=config, layer=layer, architecture=facts.architecture
    )


def index_of(images: Sequence[ContainerImage]) -> bytes:
    """The list of an image's architectures."""
    entries = [
        descriptor(MANIFEST, image.manifest)
        | {"platform": {"architecture": image.architecture, "os": "linux"}}
        for image in images
    ]
    return _json({"schemaVersion": 2, "mediaType": INDEX, "manifests": entries})


def descriptor(media_type: str, content: bytes) -> dict[str, object]:
    """How one content refers to another."""
    return {"mediaType": media_type, "digest": digest_of(content), "size": len(content)}


def layer_facts(layer: bytes) -> ImageFacts | None:
    """What a layer says. None: it is somebody else's. Damaged ones are refused."""
    try:
        unpacked = zlib.decompress(layer, wbits=31)
        with tarfile.open(fileobj=io.BytesIO(unpacked)) as archive:
            file = archive.extractfile(FACTS_FILE)
            return facts_in(file.read()) if file is not None else None
    except KeyError:
        return None
    except (zlib.error, tarfile.TarError, EOFError) as error:
        raise CorruptImage(str(error)) from None


def _archive(files: Mapping[str, bytes]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return raw.getvalue()


def _json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
