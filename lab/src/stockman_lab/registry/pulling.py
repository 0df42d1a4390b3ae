"""Pulling an image as a machine does it, and failing in the words of its containerd."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from http import HTTPStatus

from stockman_lab.http.faulty import DelayedOutcome
from stockman_lab.http.go_style import words
from stockman_lab.http.messages import Cut, Hang, Response
from stockman_lab.images.container import digest_of, layer_facts
from stockman_lab.images.facts import CorruptImage
from stockman_lab.registry.reference import NoReference, Reference, reference
from stockman_lab.registry.registry import Ask, Registry

_COPYING = "failed to copy: httpReadSeeker: failed open"
_TIMEOUT = 30.0
"""Seconds until a machine gives up a request that nobody answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PulledImage:
    """What a machine has after a pull; all of it was read out of the bytes."""

    name: str
    """As it was asked for."""
    digest: str
    """Of what the reference stands for: an index, or one manifest."""
    size: int
    platform: str
    """Of an installer: `metal`, `nocloud`. Empty: another image."""
    schematic: str
    version: str
    architecture: str
    secure_boot: bool = False
    more: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    """How long registries let the machine wait."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PullFailed:
    """Why there is no image."""

    text: str
    seconds: float = 0.0


class _Stopped(Exception):
    """A pull that cannot go on; its text is containerd's."""


def pull(
    registry: Registry, name: str, *, client: str, architecture: str = "amd64"
) -> PulledImage | PullFailed:
    """Pull an image. Which host its name says does not matter: there is one registry.

    Talos itself says `failed to pull image "name": ` before the text of a failure.
    """
    try:
        wanted = reference(name)
    except NoReference:
        return PullFailed(
            text=f'failed to parse image reference "{name}": invalid reference format'
        )
    pulling = _Pulling(registry, name, wanted, client)
    try:
        return pulling.image(architecture)
    except _Stopped as stopped:
        return PullFailed(text=str(stopped), seconds=pulling.seconds)


class _Pulling:
    """One pull on its way."""

    def __init__(self, registry: Registry, name: str, reference: Reference, client: str) -> None:
        self._registry = registry
        self._name = name
        self._wanted = reference
        self._client = client
        self.seconds = 0.0

    def image(self, architecture: str) -> PulledImage:
        digest = self._resolve()
        manifest = self._chosen(digest, architecture)
        config = self._blob(manifest.get("config"), "config")
        layers = [self._blob(text, "layer") for text in _list(manifest.get("layers"))]
        said = _object(config)
        try:
            facts = next((one for one in map(layer_facts, layers) if one is not None), None)
        except CorruptImage as error:
            raise _Stopped(f'failed to extract layer of "{self._name}": {error}') from None
        is_installer = facts is not None and facts.more.get("kind") == "installer"
        return PulledImage(
            name=self._name,
            digest=digest,
            size=len(config) + sum(map(len, layers)),
            platform=facts.platform if facts is not None and is_installer else "",
            schematic=facts.schematic if facts is not None else "",
            version=facts.version if facts is not None else self._wanted.tag,
            architecture=str(said.get("architecture", "")),
            secure_boot=facts is not None and facts.secure_boot,
            more=dict(facts.more) if facts is not None else {},
            seconds=self.seconds,
        )

    def _resolve(self) -> str:
        asked = self._wanted.asked
        answer = self._answer("HEAD", "manifests", asked)
        if answer.status == HTTPStatus.NOT_FOUND:
            raise self._resolution_failure(f"{self._name}: not found")
        if answer.status != HTTPStatus.OK:
            raise self._resolution_failure(
                self._unexpected_status("HEAD", "manifests", asked, answer.status)
            )
        return answer.headers["Docker-Content-Digest"]

    def _chosen(self, digest: str, architecture: str) -> dict[str, object]:
        """The manifest for an architecture."""
        chosen = _object(self._content("manifests", digest, "manifest"))
        if "manifests" not in chosen:
            return chosen
        for text in _list(chosen["manifests"]):
            platform = text.get("platform")
            if isinstance(platform, dict) and platform.get("architecture") == architecture:
                return _object(self._content("manifests", str(text.get("digest", "")), "manifest"))
        raise _Stopped("no match for platform in manifest: not found")

    def _blob(self, descriptor: object, kind: str) -> bytes:
        digest = str(descriptor.get("digest", "")) if isinstance(descriptor, dict) else ""
        return self._content("blobs", digest, kind)

    def _content(self, where: str, digest: str, kind: str) -> bytes:
        answer = self._answer("GET", where, digest)
        if answer.status != HTTPStatus.OK:
            text = self._unexpected_status("GET", where, digest, answer.status)
            if answer.status == HTTPStatus.NOT_FOUND:
                url = self._wanted.url(where, digest)
                text = f"content at {url} not found: not found"
            raise _Stopped(f"{_COPYING}: {text}")
        announced = int(answer.headers.get("Content-Length", "0"))
        if len(answer.body) < announced:
            counts = f"expected {announced} bytes but got {len(answer.body)}"
            raise _Stopped(f"short read: {counts}: unexpected EOF")
        got = digest_of(answer.body)
        if got != digest:
            raise _Stopped(
                f'failed commit on ref "{kind}-{digest}": '
                f"unexpected commit digest {got}, expected {digest}: failed precondition"
            )
        return answer.body

    def _answer(self, method: str, where: str, text: str) -> Response:
        path = f"/v2/{self._wanted.repository}/{where}/{text}"
        answer = self._registry.answer(Ask(path=path, method=method, client=self._client))
        self.seconds += answer.seconds
        if isinstance(answer.outcome, Response):
            return answer.outcome
        broken = self._broken(method, where, text, answer)
        if method == "HEAD":
            raise self._resolution_failure(broken)
        raise _Stopped(f"{_COPYING}: {broken}")

    def _broken(self, method: str, where: str, what: str, answer: DelayedOutcome) -> str:
        url = self._wanted.url(where, what)
        text = f'failed to do request: {method.capitalize()} "{url}"'
        if isinstance(answer.outcome, Hang):
            self.seconds += _TIMEOUT
            return f"{text}: net/http: timeout awaiting response headers"
        if isinstance(answer.outcome, Cut) and answer.is_refused:
            return f"{text}: dial tcp 127.0.0.1:443: connect: connection refused"
        return f"{text}: EOF"

    def _unexpected_status(self, method: str, where: str, text: str, status: int) -> str:
        url = self._wanted.url(where, text)
        return f"unexpected status from {method} request to {url}: {status} {words(status)}"

    def _resolution_failure(self, why: str) -> _Stopped:
        return _Stopped(f'failed to resolve reference "{self._name}": {why}')


def _list(value: object) -> list[dict[str, object]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _object(body: bytes) -> dict[str, object]:
    try:
        data = json.loads(body)
    except ValueError:
        data = {}
    return data if isinstance(data, dict) else {}
