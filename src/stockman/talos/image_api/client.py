"""`ports.Images` over any transport: requests to the image factory and to registries."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus

from stockman.model.names import SchematicId
from stockman.model.pattern import pattern
from stockman.model.version import Version
from stockman.ports.images import OfficialExtension, PublishedImage, RemoteFile
from stockman.talos.image_api.references import (
    ImageRequest,
    ImageResponse,
    ImageStream,
    ImageTransport,
    base_url,
    check_url,
    content_mismatch_error,
    invalid_response_error,
    parse_reference,
    response_error,
)

_ID = pattern(r"[0-9a-f]{64}")
_DIGEST = pattern(r"sha256:[0-9a-f]{64}")
_CHECKSUM_LINE = re.compile(rb"([0-9a-f]{64})(?:\s|\Z)")
_UNLISTED_STATUSES = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.PAYMENT_REQUIRED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,
    }
)
"""402: a factory without checksums. 400: one that does not support them. Others: mirrors."""
_FILENAME = pattern(r'filename="?([^";]+)')
_MANIFESTS = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)


class ImageApi:
    """`ports.Images` over a transport."""

    def __init__(self, transport: ImageTransport, factory_url: str) -> None:
        self._transport = transport
        self._base = base_url(factory_url)

    async def register(self, schematic: str) -> SchematicId:
        request = ImageRequest(
            url=f"{self._base}/schematics",
            method="POST",
            headers={"Content-Type": "application/yaml"},
            body=schematic.encode(),
        )
        response = await self._ask(request, HTTPStatus.CREATED)
        row = _json_object(request, response)
        schematic_id, text = row.get("id"), row.get("schematic")
        if not isinstance(schematic_id, str) or not _ID.fullmatch(schematic_id):
            raise invalid_response_error(request, "its answer contains no schematic ID")
        if isinstance(text, str) and hashlib.sha256(text.encode()).hexdigest() != schematic_id:
            raise content_mismatch_error(
                request, "the schematic ID does not match the schematic in its answer"
            )
        return SchematicId(schematic_id)

    async def schematic(self, schematic: SchematicId) -> str:
        response = await self._ask(ImageRequest(url=f"{self._base}/schematics/{schematic}"))
        return response.body.decode("utf-8", "replace")

    async def versions(self) -> tuple[Version, ...]:
        request = ImageRequest(url=f"{self._base}/versions")
        rows = _json_list(request, await self._ask(request))
        try:
            return tuple(Version.parse(str(version)) for version in rows)
        except ValueError as error:
            raise invalid_response_error(request, str(error)) from None

    async def extensions(self, version: Version) -> tuple[OfficialExtension, ...]:
        request = ImageRequest(url=f"{self._base}/version/{version.tagged}/extensions/official")
        rows = _json_list(request, await self._ask(request))
        return tuple(_extension(request, row) for row in rows)

    async def digest(self, reference: str) -> str:
        request, expected = _manifest_request(reference, "HEAD")
        response = await self._ask(request)
        digest = response.headers.get("docker-content-digest", "")
        if not digest and not expected:
            return (await self.image(reference)).digest
        return _check_digest(request, digest or expected, expected)

    async def image(self, reference: str) -> PublishedImage:
        request, expected = _manifest_request(reference, "GET")
        response = await self._ask(request)
        actual = f"sha256:{hashlib.sha256(response.body).hexdigest()}"
        announced = response.headers.get("docker-content-digest", actual)
        if announced != actual:
            raise content_mismatch_error(
                request, f"digest mismatch: announced {announced}, got {actual}"
            )
        return PublishedImage(
            digest=_check_digest(request, actual, expected),
            architectures=_architectures(_json_object(request, response)),
        )

    async def file(self, url: str) -> RemoteFile:
        response = await self._ask(ImageRequest(url=check_url(url), method="HEAD"))
        match = _FILENAME.search(response.headers.get("content-disposition", ""))
        return RemoteFile(size=_content_length(response), name=match[1] if match else "")

    async def checksum(self, url: str) -> str:
        request = ImageRequest(url=f"{check_url(url)}.sha256")
        response = await self._transport.ask(request)
        if response.status in _UNLISTED_STATUSES:
            return ""
        if response.status != HTTPStatus.OK:
            raise response_error(request, response)
        match = _CHECKSUM_LINE.match(response.body)
        if match is None:
            raise invalid_response_error(request, "its answer is not a line of sha256sum")
        return f"sha256:{match[1].decode()}"

    async def read(self, url: str, *, sha256: str = "") -> AsyncIterator[bytes]:
        request = ImageRequest(url=check_url(url))
        async with self._transport.stream(request) as stream:
            if stream.response.status != HTTPStatus.OK:
                raise response_error(request, stream.response)
            async for chunk in _verify_chunks(request, stream, sha256.lower()):
                yield chunk

    async def _ask(
        self, request: ImageRequest, expected: HTTPStatus = HTTPStatus.OK
    ) -> ImageResponse:
        response = await self._transport.ask(request)
        if response.status == expected:
            return response
        if response.status < HTTPStatus.BAD_REQUEST:
            raise invalid_response_error(request, f"unexpected status {response.status}")
        raise response_error(request, response)


async def _verify_chunks(
    request: ImageRequest, stream: ImageStream, sha256: str
) -> AsyncIterator[bytes]:
    hashed, size = hashlib.sha256(), 0
    async for chunk in stream.chunks:
        hashed.update(chunk)
        size += len(chunk)
        yield chunk
    length = _content_length(stream.response)
    if length is not None and size != length:
        raise content_mismatch_error(request, f"size mismatch: expected {length}, got {size}")
    if sha256 and hashed.hexdigest() != sha256:
        raise content_mismatch_error(
            request, f"SHA-256 mismatch: expected {sha256}, got {hashed.hexdigest()}"
        )


def _manifest_request(text: str, method: str) -> tuple[ImageRequest, str]:
    """Return the request for a manifest, and its required digest. Empty: any."""
    image = parse_reference(text)
    request = ImageRequest(url=image.manifest_url, method=method, headers={"Accept": _MANIFESTS})
    return request, image.tag_or_digest if image.is_digest else ""


def _check_digest(request: ImageRequest, digest: str, expected: str) -> str:
    if not _DIGEST.fullmatch(digest):
        raise invalid_response_error(request, "its answer contains no digest")
    if expected and digest != expected:
        raise content_mismatch_error(request, f"digest mismatch: expected {expected}, got {digest}")
    return digest


def _architectures(manifest: Mapping[str, object]) -> tuple[str, ...]:
    rows = manifest.get("manifests")
    architectures: list[str] = []
    for row in rows if isinstance(rows, list) else ():
        platform = row.get("platform") if isinstance(row, dict) else None
        if isinstance(platform, dict) and platform.get("os") == "linux":
            architectures.append(str(platform.get("architecture", "")))
    return tuple(dict.fromkeys(architectures))


def _extension(request: ImageRequest, row: object) -> OfficialExtension:
    if not isinstance(row, dict) or not all(
        isinstance(row.get(key), str) for key in ("name", "ref", "digest")
    ):
        raise invalid_response_error(request, "its answer is not a list of extensions")
    return OfficialExtension(name=row["name"], ref=row["ref"], digest=row["digest"])


def _content_length(response: ImageResponse) -> int | None:
    text = response.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdecimal() else None


def _json_object(request: ImageRequest, response: ImageResponse) -> dict[str, object]:
    value = _json(request, response)
    if not isinstance(value, dict):
        raise invalid_response_error(request, "its answer is not a JSON object")
    return value


def _json_list(request: ImageRequest, response: ImageResponse) -> list[object]:
    value = _json(request, response)
    if not isinstance(value, list):
        raise invalid_response_error(request, "its answer is not a JSON list")
    return value


def _json(request: ImageRequest, response: ImageResponse) -> object:
    try:
        return json.loads(response.body)
    except (ValueError, RecursionError):
        raise invalid_response_error(request, "its answer is not JSON") from None
