"""`ports.Images` over any wire: requests of the factory and of registries, and what they mean."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import AsyncIterator, Mapping
from http import HTTPStatus

from stockman.model.names import SchematicId
from stockman.model.version import Version
from stockman.ports.images import OfficialExtension, PublishedImage, RemoteFile
from stockman.talos.image_api.errors import (
    content_mismatch_error,
    invalid_response_error,
    response_error,
)
from stockman.talos.image_api.references import base_url, check_url, parse_reference
from stockman.talos.image_api.transport import (
    ImageRequest,
    ImageResponse,
    ImageStream,
    ImageTransport,
)

_ID = re.compile(r"[0-9a-f]{64}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_CHECKSUM_LINE = re.compile(rb"([0-9a-f]{64})(?:\s|\Z)")
_UNLISTED_STATUSES = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.PAYMENT_REQUIRED,
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,
    }
)
"""402: a factory without checksums. 400: one that never heard of them. Others: mirrors."""
_FILENAME = re.compile(r'filename="?([^";]+)')
_MANIFESTS = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)


class ImageApi:
    """`ports.Images` over a wire."""

    def __init__(self, wire: ImageTransport, factory_url: str) -> None:
        self._wire = wire
        self._base = base_url(factory_url)

    async def register(self, schematic: str) -> SchematicId:
        question = ImageRequest(
            url=f"{self._base}/schematics",
            method="POST",
            headers={"Content-Type": "application/yaml"},
            body=schematic.encode(),
        )
        answer = await self._ask(question, HTTPStatus.CREATED)
        found = _json_object(question, answer)
        made, text = found.get("id"), found.get("schematic")
        if not isinstance(made, str) or not _ID.fullmatch(made):
            raise invalid_response_error(question, "its answer holds no id of a schematic")
        if isinstance(text, str) and hashlib.sha256(text.encode()).hexdigest() != made:
            raise content_mismatch_error(
                question, "its id is not that of the schematic that it shows"
            )
        return SchematicId(made)

    async def schematic(self, schematic: SchematicId) -> str:
        answer = await self._ask(ImageRequest(url=f"{self._base}/schematics/{schematic}"))
        return answer.body.decode("utf-8", "replace")

    async def versions(self) -> tuple[Version, ...]:
        question = ImageRequest(url=f"{self._base}/versions")
        found = _json_list(question, await self._ask(question))
        try:
            return tuple(Version.parse(str(one)) for one in found)
        except ValueError as error:
            raise invalid_response_error(question, str(error)) from None

    async def extensions(self, version: Version) -> tuple[OfficialExtension, ...]:
        question = ImageRequest(url=f"{self._base}/version/{version.tagged}/extensions/official")
        rows = _json_list(question, await self._ask(question))
        return tuple(_extension(question, row) for row in rows)

    async def digest(self, reference: str) -> str:
        question, wanted = _manifest_request(reference, "HEAD")
        answer = await self._ask(question)
        found = answer.headers.get("docker-content-digest", "")
        if not found and not wanted:
            return (await self.image(reference)).digest
        return _check_digest(question, found or wanted, wanted)

    async def image(self, reference: str) -> PublishedImage:
        question, wanted = _manifest_request(reference, "GET")
        answer = await self._ask(question)
        made = f"sha256:{hashlib.sha256(answer.body).hexdigest()}"
        said = answer.headers.get("docker-content-digest", made)
        if said != made:
            raise content_mismatch_error(question, f"it says {said}, and what came is {made}")
        return PublishedImage(
            digest=_check_digest(question, made, wanted),
            architectures=_architectures(_json_object(question, answer)),
        )

    async def file(self, url: str) -> RemoteFile:
        answer = await self._ask(ImageRequest(url=check_url(url), method="HEAD"))
        named = _FILENAME.search(answer.headers.get("content-disposition", ""))
        return RemoteFile(size=_content_length(answer), name=named[1] if named else "")

    async def checksum(self, url: str) -> str:
        question = ImageRequest(url=f"{check_url(url)}.sha256")
        answer = await self._wire.ask(question)
        if answer.status in _UNLISTED_STATUSES:
            return ""
        if answer.status != HTTPStatus.OK:
            raise response_error(question, answer)
        found = _CHECKSUM_LINE.match(answer.body)
        if found is None:
            raise invalid_response_error(question, "what it sends is not a line of sha256sum")
        return f"sha256:{found[1].decode()}"

    async def read(self, url: str, *, sha256: str = "") -> AsyncIterator[bytes]:
        question = ImageRequest(url=check_url(url))
        async with self._wire.stream(question) as found:
            if found.answer.status != HTTPStatus.OK:
                raise response_error(question, found.answer)
            async for piece in _verify_chunks(question, found, sha256.lower()):
                yield piece

    async def _ask(
        self, question: ImageRequest, wanted: HTTPStatus = HTTPStatus.OK
    ) -> ImageResponse:
        answer = await self._wire.ask(question)
        if answer.status == wanted:
            return answer
        if answer.status < HTTPStatus.BAD_REQUEST:
            raise invalid_response_error(question, f"it answers {answer.status}")
        raise response_error(question, answer)


async def _verify_chunks(
    question: ImageRequest, found: ImageStream, sha256: str
) -> AsyncIterator[bytes]:
    hashed, size = hashlib.sha256(), 0
    async for piece in found.pieces:
        hashed.update(piece)
        size += len(piece)
        yield piece
    length = _content_length(found.answer)
    if length is not None and size != length:
        raise content_mismatch_error(question, f"it has {size} bytes instead of {length}")
    if sha256 and hashed.hexdigest() != sha256:
        raise content_mismatch_error(question, f"its SHA-256 is {hashed.hexdigest()}, not {sha256}")


def _manifest_request(text: str, method: str) -> tuple[ImageRequest, str]:
    """The question for a manifest, and the digest that it has to have. Empty: any."""
    found = parse_reference(text)
    question = ImageRequest(url=found.manifest_url, method=method, headers={"Accept": _MANIFESTS})
    return question, found.what if found.is_digest else ""


def _check_digest(question: ImageRequest, digest: str, wanted: str) -> str:
    if not _DIGEST.fullmatch(digest):
        raise invalid_response_error(question, "it tells no digest")
    if wanted and digest != wanted:
        raise content_mismatch_error(question, f"it is {digest}, not {wanted}")
    return digest


def _architectures(manifest: Mapping[str, object]) -> tuple[str, ...]:
    rows = manifest.get("manifests")
    found: list[str] = []
    for row in rows if isinstance(rows, list) else ():
        platform = row.get("platform") if isinstance(row, dict) else None
        if isinstance(platform, dict) and platform.get("os") == "linux":
            found.append(str(platform.get("architecture", "")))
    return tuple(dict.fromkeys(found))


def _extension(question: ImageRequest, row: object) -> OfficialExtension:
    if not isinstance(row, dict) or not all(
        isinstance(row.get(one), str) for one in ("name", "ref", "digest")
    ):
        raise invalid_response_error(question, "its answer holds no list of extensions")
    return OfficialExtension(name=row["name"], ref=row["ref"], digest=row["digest"])


def _content_length(answer: ImageResponse) -> int | None:
    text = answer.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdecimal() else None


def _json_object(question: ImageRequest, answer: ImageResponse) -> dict[str, object]:
    found = _json(question, answer)
    if not isinstance(found, dict):
        raise invalid_response_error(question, "its answer is not a JSON object")
    return found


def _json_list(question: ImageRequest, answer: ImageResponse) -> list[object]:
    found = _json(question, answer)
    if not isinstance(found, list):
        raise invalid_response_error(question, "its answer is not a JSON list")
    return found


def _json(question: ImageRequest, answer: ImageResponse) -> object:
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        raise invalid_response_error(question, "its answer is not JSON") from None
