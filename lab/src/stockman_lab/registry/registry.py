"""A registry at work: requests and their answers, over HTTP or from inside of the world."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from urllib.parse import parse_qs, quote

from stockman_lab.core.faults import Effect, Fault, Faults, Point
from stockman_lab.factory.refusals import FactoryRefusal
from stockman_lab.factory.state import FactoryState
from stockman_lab.http.faulty import DelayedOutcome, outcome_under
from stockman_lab.http.messages import Response
from stockman_lab.images.container import INDEX, MANIFEST, digest_of
from stockman_lab.registry import pushing
from stockman_lab.registry.answers import RegistryError, content, document, error
from stockman_lab.registry.published import (
    ARCHITECTURES,
    PLAIN,
    Published,
    Twist,
    installer_in,
    known_tags,
    made_tags,
    published,
)
from stockman_lab.registry.reference import DIGEST, NAME
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


HTTP = "http"
ARCH = "arch"
_PATH = re.compile(
    r"/v2/(?P<name>.+)/(?P<kind>manifests|blobs|tags|referrers)/(?P<rest>[^/]+|uploads/[^/]*)"
)
_COUNT = re.compile("[0-9]{1,9}")
_BYTES = "application/octet-stream"
_MANY = 1000


@dataclass(slots=True, kw_only=True)
class Ask:
    """A request to a registry."""

    path: str
    """`/v2/siderolabs/kubelet/manifests/v1.36.3`."""
    method: str = "GET"
    query: str = ""
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Names in lower case."""
    client: str = HTTP
    """The machine that asks, or `http` for anybody outside."""


class Registry:
    """Answers out of the state of a registry and of the factory behind it."""

    def __init__(
        self,
        state: RegistryState,
        factory: FactoryState,
        faults: Faults,
        now: Callable[[], float],
    ) -> None:
        self._state = state
        self._factory = factory
        self._faults = faults
        self._now = now
        self._contents = Contents(state, factory)

    def answer(self, ask: Ask) -> DelayedOutcome:
        """What becomes of a request."""
        found = _PATH.fullmatch(ask.path)
        facts = {
            "method": ask.method,
            "path": ask.path,
            "repository": found["name"] if found else "",
            "reference": found["rest"] if found else "",
            "client": ask.client,
        }
        fault = self._faults.due(Point.REGISTRY, self._now(), facts)
        claims = fault is not None and fault.effect is Effect.CLAIM
        taker = self._for_show() if claims else self
        return outcome_under(fault, lambda: taker._made(ask, found, fault), error)

    def _for_show(self) -> Registry:
        """A registry with the same content, which forgets what is brought to it."""
        return Registry(deepcopy(self._state), self._factory, self._faults, self._now)

    def _made(self, ask: Ask, found: re.Match[str] | None, fault: Fault | None) -> Response:
        try:
            if ask.path.rstrip("/") == "/v2":
                return document({})
            if found is None:
                return error(404, "404 page not found", "UNSUPPORTED")
            if not NAME.fullmatch(found["name"]):
                raise RegistryError(400, "NAME_INVALID", "invalid repository name")
            return self._route(ask, found["name"], found["kind"], found["rest"], fault)
        except RegistryError as refusal:
            return refusal.response

    def _route(self, ask: Ask, name: str, kind: str, text: str, fault: Fault | None) -> Response:
        reads = ask.method in ("GET", "HEAD")
        if kind == "manifests":
            return self._manifest(ask, name, text, fault)
        if kind == "tags" and text == "list" and reads:
            return self._tags(name, parse_qs(ask.query))
        if kind == "referrers" and reads:
            return document(pushing.referrers(self._state, name, text), INDEX)
        if kind == "blobs" and text.startswith("uploads/"):
            return self._upload(ask, name, text.removeprefix("uploads/"))
        if kind == "blobs" and reads:
            if not DIGEST.fullmatch(text):
                raise RegistryError(400, "DIGEST_INVALID", "invalid digest")
            return content(self._contents.blob(name, text), _BYTES, text)
        raise _unsupported_error()

    def _manifest(self, ask: Ask, name: str, reference: str, fault: Fault | None) -> Response:
        if ask.method == "PUT":
            kind = ask.headers.get("content-type", "")
            return pushing.put_manifest(self._state, name, reference, kind, ask.body)
        if ask.method == "DELETE":
            return pushing.remove_manifest(self._state, name, reference)
        if ask.method not in ("GET", "HEAD"):
            raise _unsupported_error()
        tag, twist = _twist(reference, fault)
        manifest = self._contents.manifest(name, tag, twist)
        return content(manifest.content, manifest.media_type, manifest.digest)

    def _tags(self, name: str, query: Mapping[str, list[str]]) -> Response:
        count = query.get("n", [""])[0]
        if count and not _COUNT.fullmatch(count):
            raise RegistryError(400, "PAGINATION_NUMBER_INVALID", "invalid number of results")
        most = min(int(count or _MANY), _MANY)
        last = query.get("last", [""])[0]
        tags = [tag for tag in self._contents.tags(name) if tag > last]
        page = tags[:most]
        more = {}
        if len(tags) > len(page) and page:
            url = f"/v2/{name}/tags/list?last={quote(page[-1])}&n={most}"
            more["Link"] = f'<{url}>; rel="next"'
        return document({"name": name, "tags": page}, more=more)

    def _upload(self, ask: Ask, name: str, upload: str) -> Response:
        query = parse_qs(ask.query)
        if ask.method == "POST" and not upload:
            return pushing.begin(self._state, name, query, ask.body)
        if ask.method == "PATCH" and upload:
            return pushing.go_on(self._state, name, upload, ask.body)
        if ask.method == "PUT" and upload:
            digest = query.get("digest", [""])[0]
            return pushing.finish(self._state, name, upload, digest, ask.body)
        raise _unsupported_error()


def _twist(reference: str, fault: Fault | None) -> tuple[str, Twist]:
    """What is looked for instead of what was asked for."""
    if fault is None or DIGEST.fullmatch(reference):
        return reference, PLAIN
    if fault.effect is Effect.LIE:
        if fault.message:
            return fault.message, PLAIN
        return reference, Twist(build=f"fault-{fault.number}")
    if fault.effect is Effect.CORRUPT and fault.message == ARCH:
        return reference, Twist(architectures=ARCHITECTURES[1:])
    return reference, PLAIN


def _unsupported_error() -> RegistryError:
    return RegistryError(405, "UNSUPPORTED", "the operation is unsupported")
