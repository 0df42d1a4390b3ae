"""Container images in archives, as tools export them."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from stockman_lab.images.container import layer_facts
from stockman_lab.images.facts import CorruptImage, ImageFacts

_LARGEST = 1 << 30
_NAMES = ("io.containerd.image.name", "org.opencontainers.image.ref.name")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivedImage:
    """What an archive holds."""

    name: str
    digest: str
    facts: ImageFacts | None
    """None: it says nothing of itself."""


def read_archive(content: bytes) -> ArchivedImage:
    """The first image of an archive; refuses what is none."""
    files = _files(content)
    if "index.json" in files:
        return _of_layout(files)
    if "manifest.json" in files:
        return _of_docker(files)
    raise CorruptImage("archive has neither index.json nor manifest.json")


def _files(content: bytes) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    size = 0
    try:
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            for member in archive:
                size += member.size
                if size > _LARGEST:
                    raise CorruptImage("archive is too large")
                file = archive.extractfile(member) if member.isfile() else None
                if file is not None:
                    files[member.name.removeprefix("./")] = file.read()
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise CorruptImage(f"archive cannot be read: {error}") from None
    return files


def _of_layout(files: Mapping[str, bytes]) -> ArchivedImage:
    entry = next(iter(_list(_json(files["index.json"]), "manifests")), {})
    digest = str(entry.get("digest", ""))
    notes = entry.get("annotations")
    named = notes if isinstance(notes, dict) else {}
    name = next((str(named[one]) for one in _NAMES if named.get(one)), "")
    manifest = _json(_blob(files, digest))
    while "manifests" in manifest:
        inner = next(iter(_list(manifest, "manifests")), {})
        manifest = _json(_blob(files, str(inner.get("digest", ""))))
    layers = [str(text.get("digest", "")) for text in _list(manifest, "layers")]
    facts = _facts(_blob(files, layer) for layer in layers)
    return ArchivedImage(name=name or digest, digest=digest, facts=facts)


def _of_docker(files: Mapping[str, bytes]) -> ArchivedImage:
    import hashlib

    try:
        entries = json.loads(files["manifest.json"])
        entry = entries[0]
        tags, layers = entry["RepoTags"], entry["Layers"]
    except (ValueError, LookupError, TypeError):
        raise CorruptImage("manifest.json is no list of images") from None
    facts = _facts(files.get(str(layer), b"") for layer in layers)
    digest = f"sha256:{hashlib.sha256(files['manifest.json']).hexdigest()}"
    return ArchivedImage(name=str(tags[0]) if tags else digest, digest=digest, facts=facts)


def _facts(layers: Iterable[bytes]) -> ImageFacts | None:
    return next((one for one in map(layer_facts, layers) if one is not None), None)


def _blob(files: Mapping[str, bytes], digest: str) -> bytes:
    file = files.get(f"blobs/{digest.replace(':', '/', 1)}")
    if file is None:
        raise CorruptImage(f"blob {digest or 'without a digest'} is missing")
    return file


def _json(content: bytes) -> dict[str, object]:
    try:
        data = json.loads(content)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise CorruptImage("a manifest is no mapping")
    return data


def _list(content: Mapping[str, object], name: str) -> list[dict[str, object]]:
    found = content.get(name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
