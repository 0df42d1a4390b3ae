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
from stockman.talos.image_api.places import base_url, checked, reference
from stockman.talos.image_api.refusals import odd_answer, other_content, refusal
from stockman.talos.image_api.wire import Answer, Question, Stream, Wire

_ID = re.compile(r"[0-9a-f]{64}")
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_CHECKSUM_LINE = re.compile(rb"([0-9a-f]{64})(?:\s|\Z)")
_TELLS_NONE = frozenset(
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


class ApiImages:
    """`ports.Images` over a wire."""

    def __init__(self, wire: Wire, factory_url: str) -> None:
        self._wire = wire
        self._base = base_url(factory_url)

    async def register(self, schematic: str) -> SchematicId:
        question = Question(
            url=f"{self._base}/schematics",
            method="POST",
            headers={"Content-Type": "application/yaml"},
            body=schematic.encode(),
        )
        answer = await self._ask(question, HTTPStatus.CREATED)
        found = _mapping(question, answer)
        made, text = found.get("id"), found.get("schematic")
        if not isinstance(made, str) or not _ID.fullmatch(made):
            raise odd_answer(question, "its answer holds no id of a schematic")
        if isinstance(text, str) and hashlib.sha256(text.encode()).hexdigest() != made:
            raise other_content(question, "its id is not that of the schematic that it shows")
        return SchematicId(made)

    async def schematic(self, schematic: SchematicId) -> str:
        answer = await self._ask(Question(url=f"{self._base}/schematics/{schematic}"))
        return answer.body.decode("utf-8", "replace")

    async def versions(self) -> tuple[Version, ...]:
        question = Question(url=f"{self._base}/versions")
        found = _list(question, await self._ask(question))
        try:
            return tuple(Version.parse(str(one)) for one in found)
        except ValueError as error:
            raise odd_answer(question, str(error)) from None

    async def extensions(self, version: Version) -> tuple[OfficialExtension, ...]:
        question = Question(url=f"{self._base}/version/{version.tagged}/extensions/official")
        rows = _list(question, await self._ask(question))
        return tuple(_extension(question, row) for row in rows)

    async def digest(self, reference: str) -> str:
        question, wanted = _about(reference, "HEAD")
        answer = await self._ask(question)
        found = answer.headers.get("docker-content-digest", "")
        if not found and not wanted:
            return (await self.image(reference)).digest
        return _agreed(question, found or wanted, wanted)

    async def image(self, reference: str) -> PublishedImage:
        question, wanted = _about(reference, "GET")
        answer = await self._ask(question)
        made = f"sha256:{hashlib.sha256(answer.body).hexdigest()}"
        said = answer.headers.get("docker-content-digest", made)
        if said != made:
            raise other_content(question, f"it says {said}, and what came is {made}")
        return PublishedImage(
            digest=_agreed(question, made, wanted),
            architectures=_architectures(_mapping(question, answer)),
        )

    async def file(self, url: str) -> RemoteFile:
        answer = await self._ask(Question(url=checked(url), method="HEAD"))
        named = _FILENAME.search(answer.headers.get("content-disposition", ""))
        return RemoteFile(size=_length(answer), name=named[1] if named else "")

    async def checksum(self, url: str) -> str:
        question = Question(url=f"{checked(url)}.sha256")
        answer = await self._wire.ask(question)
        if answer.status in _TELLS_NONE:
            return ""
        if answer.status != HTTPStatus.OK:
            raise refusal(question, answer)
        found = _CHECKSUM_LINE.match(answer.body)
        if found is None:
            raise odd_answer(question, "what it sends is not a line of sha256sum")
        return f"sha256:{found[1].decode()}"

    async def read(self, url: str, *, sha256: str = "") -> AsyncIterator[bytes]:
        question = Question(url=checked(url))
        async with self._wire.stream(question) as found:
            if found.answer.status != HTTPStatus.OK:
                raise refusal(question, found.answer)
            async for piece in _checked_pieces(question, found, sha256.lower()):
                yield piece

    async def _ask(self, question: Question, wanted: HTTPStatus = HTTPStatus.OK) -> Answer:
        answer = await self._wire.ask(question)
        if answer.status == wanted:
            return answer
        if answer.status < HTTPStatus.BAD_REQUEST:
            raise odd_answer(question, f"it answers {answer.status}")
        raise refusal(question, answer)


async def _checked_pieces(question: Question, found: Stream, sha256: str) -> AsyncIterator[bytes]:
    hashed, size = hashlib.sha256(), 0
    async for piece in found.pieces:
        hashed.update(piece)
        size += len(piece)
        yield piece
    length = _length(found.answer)
    if length is not None and size != length:
        raise other_content(question, f"it has {size} bytes instead of {length}")
    if sha256 and hashed.hexdigest() != sha256:
        raise other_content(question, f"its SHA-256 is {hashed.hexdigest()}, not {sha256}")


def _about(text: str, method: str) -> tuple[Question, str]:
    """The question for a manifest, and the digest that it has to have. Empty: any."""
    found = reference(text)
    question = Question(url=found.manifest_url, method=method, headers={"Accept": _MANIFESTS})
    return question, found.what if found.is_digest else ""


def _agreed(question: Question, digest: str, wanted: str) -> str:
    if not _DIGEST.fullmatch(digest):
        raise odd_answer(question, "it tells no digest")
    if wanted and digest != wanted:
        raise other_content(question, f"it is {digest}, not {wanted}")
    return digest


def _architectures(manifest: Mapping[str, object]) -> tuple[str, ...]:
    rows = manifest.get("manifests")
    found: list[str] = []
    for row in rows if isinstance(rows, list) else ():
        platform = row.get("platform") if isinstance(row, dict) else None
        if isinstance(platform, dict) and platform.get("os") == "linux":
            found.append(str(platform.get("architecture", "")))
    return tuple(dict.fromkeys(found))


def _extension(question: Question, row: object) -> OfficialExtension:
    if not isinstance(row, dict) or not all(
        isinstance(row.get(one), str) for one in ("name", "ref", "digest")
    ):
        raise odd_answer(question, "its answer holds no list of extensions")
    return OfficialExtension(name=row["name"], ref=row["ref"], digest=row["digest"])


def _length(answer: Answer) -> int | None:
    text = answer.headers.get("content-length", "")
    return int(text) if text.isascii() and text.isdecimal() else None


def _mapping(question: Question, answer: Answer) -> dict[str, object]:
    found = _json(question, answer)
    if not isinstance(found, dict):
        raise odd_answer(question, "its answer is not a JSON object")
    return found


def _list(question: Question, answer: Answer) -> list[object]:
    found = _json(question, answer)
    if not isinstance(found, list):
        raise odd_answer(question, "its answer is not a JSON list")
    return found


def _json(question: Question, answer: Answer) -> object:
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        raise odd_answer(question, "its answer is not JSON") from None
