"""Where a registry finds what it is asked for: among what was pushed, or made on the spot."""

from __future__ import annotations

from dataclasses import dataclass

from stockman_lab.factory.refusals import FactoryRefusal
from stockman_lab.factory.state import FactoryState
from stockman_lab.images.container import INDEX, MANIFEST, digest_of
from stockman_lab.registry.answers import RegistryError
from stockman_lab.registry.published import (
    PLAIN,
    Published,
    Twist,
    installer_in,
    known_tags,
    made_tags,
    published,
)
from stockman_lab.registry.reference import DIGEST
from stockman_lab.registry.state import RegistryState

_MISSING = 404


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """A manifest or an index, as it is served."""

    content: bytes
    media_type: str

    @property
    def digest(self) -> str:
        return digest_of(self.content)


class Contents:
    """Everything that can be had from a registry."""

    def __init__(self, state: RegistryState, factory: FactoryState) -> None:
        self._state = state
        self._factory = factory
        self._manifests: dict[str, Manifest] = {}
        self._blobs: dict[str, bytes] = {}
        """Of images that were made; they can be made again."""

    def manifest(self, repository: str, reference: str, twist: Twist = PLAIN) -> Manifest:
        """What a tag or a digest stands for; raises `RegistryError`."""
        if DIGEST.fullmatch(reference):
            return self._by_digest(repository, reference)
        stored = self._state.repositories.get(repository)
        if stored is not None and reference in stored.tags:
            return self._by_digest(repository, stored.tags[reference])
        made = self._made(repository, reference, twist)
        if made is None:
            raise self._unknown(repository, reference)
        return self._kept(made)

    def blob(self, repository: str, digest: str) -> bytes:
        """A content by its digest; raises `RegistryError`."""
        blob = self._state.blobs.get(digest)
        if blob is None and digest not in self._blobs:
            self._make_all(repository)
        blob = blob if blob is not None else self._blobs.get(digest)
        if blob is None:
            raise RegistryError(_MISSING, "BLOB_UNKNOWN", "blob unknown to registry")
        return blob

    def tags(self, repository: str) -> list[str]:
        """All tags, in the order of letters; raises `RegistryError`."""
        stored = self._state.repositories.get(repository)
        known = known_tags(self._factory, repository)
        if stored is None and known is None:
            raise _no_repository()
        return sorted({*(stored.tags if stored is not None else ()), *(known or ())})

    def _by_digest(self, repository: str, digest: str) -> Manifest:
        stored = self._state.repositories.get(repository)
        if stored is not None and digest in stored.manifests:
            manifest = stored.manifests[digest]
            return Manifest(content=manifest.content, media_type=manifest.media_type)
        if digest not in self._manifests:
            self._make_all(repository)
        if digest not in self._manifests:
            raise self._unknown(repository, digest)
        return self._manifests[digest]

    def _made(self, repository: str, tag: str, twist: Twist) -> Published | None:
        if f"{repository}:{tag}" in self._state.missing:
            return None
        try:
            return published(self._factory, repository, tag, twist)
        except FactoryRefusal as refusal:
            code = "MANIFEST_UNKNOWN" if refusal.status == _MISSING else "MANIFEST_INVALID"
            raise RegistryError(refusal.status, code, refusal.text) from None

    def _kept(self, published: Published) -> Manifest:
        for image in published.images:
            manifest = Manifest(content=image.manifest, media_type=MANIFEST)
            self._manifests[manifest.digest] = manifest
            self._blobs.update(image.blobs)
        index = Manifest(content=published.index, media_type=INDEX)
        self._manifests[index.digest] = index
        return index

    def _make_all(self, repository: str) -> None:
        """Make what a digest could belong to that somebody remembers."""
        for tag in made_tags(self._factory, repository):
            try:
                found = published(self._factory, repository, tag)
            except FactoryRefusal:
                continue
            if found is not None:
                self._kept(found)

    def _unknown(self, repository: str, reference: str) -> RegistryError:
        stored = self._state.repositories.get(repository)
        is_known = stored is not None or known_tags(self._factory, repository) is not None
        if not is_known and installer_in(repository) is None:
            return _no_repository()
        return RegistryError(_MISSING, "MANIFEST_UNKNOWN", f"manifest unknown: {reference}")


def _no_repository() -> RegistryError:
    return RegistryError(_MISSING, "NAME_UNKNOWN", "repository name not known to registry")
