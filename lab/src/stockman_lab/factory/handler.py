"""The Image Factory over HTTP: every route but those of its registry."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote
from uuid import UUID

from stockman.model.version import Version
from stockman.talos.schematic import canonical_text, schematic_id
from stockman_lab.core.faults import Effect, Point
from stockman_lab.factory import offer, schematics
from stockman_lab.factory.names import asset
from stockman_lab.factory.refusals import (
    FactoryRefusal,
    no_checksums,
    no_signatures,
    unknown_schematic,
)
from stockman_lab.factory.state import FactoryState
from stockman_lab.http.faulty import DelayedOutcome, outcome_under
from stockman_lab.http.go_style import TEXT, text_error
from stockman_lab.http.messages import Request, Response
from stockman_lab.http.parsing import split_target

if TYPE_CHECKING:
    from stockman_lab.core.faults import Fault, Faults

SERVER = "Image Factory v1.5.0"
_REQUEST_ID = "X-Request-ID"
_CHECKSUMS = (".sha256", ".sha512")
_SIGNATURE = ".sigstore.json"
_PEM = "application/x-pem-file"
_TYPES = {
    ".efi": "application/efi",
    ".iso": "application/x-iso9660-image",
    ".xz": "application/x-xz",
    ".gz": "application/gzip",
    ".zst": "application/zstd",
    ".tar": "application/x-tar",
    ".qcow2": "application/x-qemu-disk",
}
_CLIENTS = (
    *(f"talosctl-darwin-{text}" for text in ("amd64", "arm64")),
    *(f"talosctl-freebsd-{text}" for text in ("amd64", "arm64")),
    *(f"talosctl-linux-{text}" for text in ("amd64", "arm64", "armv7")),
    *(f"talosctl-windows-{text}.exe" for text in ("amd64", "arm64")),
)
Route = Callable[["FactoryHandler", "_Asked"], Response]


class _Asked:
    """A request while it is answered."""

    __slots__ = ("base", "body", "fault", "parts", "query")

    def __init__(self, request: Request, fault: Fault | None) -> None:
        path, query = split_target(request.target)
        self.parts = [unquote(text) for text in path.split("/")[1:]]
        self.query = parse_qs(query)
        self.body = request.body
        self.base = f"http://{request.headers.get('host', '')}"
        self.fault = fault

    def lies(self) -> Fault | None:
        return self.fault if self.fault is not None and self.fault.effect is Effect.LIE else None


class FactoryHandler:
    """Answers requests out of the state of a factory."""

    def __init__(
        self,
        state: FactoryState,
        faults: Faults,
        now: Callable[[], float],
        random_bytes: Callable[[int], bytes],
    ) -> None:
        self._state = state
        self._faults = faults
        self._now = now
        self._random_bytes = random_bytes

    def answer(self, request: Request) -> DelayedOutcome:
        """What becomes of a request."""
        path = split_target(request.target)[0]
        facts = {"method": request.method, "path": path}
        fault = self._faults.due(Point.FACTORY, self._now(), facts)
        answer = outcome_under(fault, lambda: self._made(request, path, fault))
        if isinstance(answer.outcome, Response):
            header = request.headers.get(_REQUEST_ID.lower(), "")
            shown = header or str(UUID(bytes=self._random_bytes(16), version=4))
            headers = {"Server": SERVER, _REQUEST_ID: shown}
            answer.outcome.headers = {**answer.outcome.headers, **headers}
        return answer

    def _made(self, request: Request, path: str, fault: Fault | None) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        for pattern, methods, route in _ROUTES:
            if pattern.fullmatch(path):
                if method not in methods:
                    allowed = ", ".join(sorted({*methods, "OPTIONS"}))
                    refused = text_error(405, "Method Not Allowed")
                    return replace(refused, headers={**refused.headers, "Allow": allowed})
                try:
                    return route(self, _Asked(request, fault))
                except FactoryRefusal as refusal:
                    return text_error(refusal.status, refusal.text)
        return text_error(404, "404 page not found")

    # --- schematics -------------------------------------------------------------------------------

    def post(self, asked: _Asked) -> Response:
        found = schematics.parse_schematic(asked.body)
        claims = asked.fault is not None and asked.fault.effect is Effect.CLAIM
        made = schematic_id(found) if claims else schematics.post_schematic(self._state, found)
        return _json({"id": made, "schematic": canonical_text(found)}, 201)

    def schematic(self, asked: _Asked) -> Response:
        text = self._state.schematics.get(asked.parts[1])
        if text is None:
            return text_error(404, "schematic not found")
        return Response(headers={"Content-Type": "application/yaml"}, body=text.encode())

    # --- what there is ----------------------------------------------------------------------------

    def versions(self, asked: _Asked) -> Response:
        is_broken = asked.query.get("broken") == ["true"]
        return _json(self._state.broken if is_broken else self._state.versions, kind=TEXT)

    def extensions(self, asked: _Asked) -> Response:
        version = offer.offered(self._state, asked.parts[1])
        return _json(
            [asdict(extension) for extension in offer.extensions_of(self._state, version)],
            kind=TEXT,
        )

    def overlays(self, asked: _Asked) -> Response:
        version = offer.offered(self._state, asked.parts[1])
        return _json(
            [asdict(overlay) for overlay in offer.overlays_of(self._state, version)], kind=TEXT
        )

    def clients(self, asked: _Asked) -> Response:
        version = offer.offered(self._state, asked.parts[1])
        known = _CLIENTS if Version.parse(version).line >= (1, 11) else ()
        return _json([f"{asked.base}/talosctl/{version}/{one}" for one in known])

    # --- images -----------------------------------------------------------------------------------

    def image(self, asked: _Asked) -> Response:
        from stockman_lab.factory.assets import content_of, order

        _, schematic, version, path = asked.parts
        if path.endswith(_SIGNATURE):
            raise no_signatures()
        checksum = next((one for one in _CHECKSUMS if path.endswith(one)), "")
        if checksum and not self._state.enterprise:
            raise no_checksums()
        path = path.removesuffix(checksum)
        if schematic not in self._state.schematics:
            raise unknown_schematic(schematic)
        self._check_version(version)
        wanted = order(self._state, schematic, self._told_version(version, asked), asset(path))
        name = asked.query.get("filename", [""])[0] or path
        content = content_of(self._state, wanted)
        if checksum:
            line = f"{hashlib.new(checksum[1:], content).hexdigest()}  {name}\n"
            return _attachment(f"{name}{checksum}", TEXT, line.encode())
        return _attachment(name, _content_type(path), content)

    def _check_version(self, version: str) -> None:
        """A version that is none is an error before anything else is looked at."""
        try:
            offer.offered(self._state, version)
        except FactoryRefusal as refusal:
            if refusal.status == 500:
                raise

    def _told_version(self, version: str, asked: _Asked) -> str:
        lie = asked.lies()
        if lie is None:
            return version
        known, tag = self._state.versions, f"v{version.removeprefix('v')}"
        before = known[max(known.index(tag) - 1, 0)] if tag in known else tag
        return lie.message or before

    # --- keys and health --------------------------------------------------------------------------


def _attachment(name: str, kind: str, body: bytes) -> Response:
    headers = {"Content-Type": kind, "Content-Disposition": f'attachment; filename="{name}"'}
    return Response(headers=headers, body=body)


def _json(value: object, status: int = 200, kind: str = "application/json") -> Response:
    body = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return Response(status, headers={"Content-Type": kind}, body=f"{body}\n".encode())


def _content_type(path: str) -> str:
    dot = path.rfind(".")
    return _TYPES.get(path[dot:] if dot >= 0 else "", "application/octet-stream")


_READ, _WRITE = frozenset({"GET"}), frozenset({"POST"})
_ROUTES: tuple[tuple[re.Pattern[str], frozenset[str], Route], ...] = tuple(
    (re.compile(pattern), methods, route)
    for pattern, methods, route in (
        ("/schematics", _WRITE, FactoryHandler.post),
        ("/schematics/[^/]+", _READ, FactoryHandler.schematic),
        ("/versions", _READ, FactoryHandler.versions),
        ("/version/[^/]+/extensions/official", _READ, FactoryHandler.extensions),
        ("/version/[^/]+/overlays/official", _READ, FactoryHandler.overlays),
        ("/image/[^/]+/[^/]+/[^/]+", _READ, FactoryHandler.image),
        ("/talosctl/[^/]+", _READ, FactoryHandler.clients),
    )
)
