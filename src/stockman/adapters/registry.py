"""`ports.Registry` over HTTP: the tag list of the OCI distribution protocol."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
from http import HTTPStatus

import httpx2

from stockman import __version__
from stockman.adapters.closing import AsyncCloseable
from stockman.model.errors import Denied, NotFound, Rejected, Unreachable
from stockman.model.problem import Problem
from stockman.model.secret import MASK

_MAX_PAGES = 20
_MAX_REDIRECTS = 3
_PAGE_SIZE = 1000
_MAX_BYTES = 8 * 1024 * 1024
_HEADERS = ("Link", "Location", "WWW-Authenticate")
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_ADDRESS = re.compile(
    r"oci://(?P<host>\[[0-9A-Fa-f:]+\]|[A-Za-z0-9.-]+)(?P<port>:[0-9]{1,5})?"
    rf"/(?P<path>{_PART}(?:/{_PART})*)"
)
_CHALLENGE = re.compile(r'([a-z]+)="([^"]*)"', re.IGNORECASE)
_NEXT = re.compile(r'<([^>]*)>\s*;[^,]*\brel="?next"?', re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_DEAD_CONNECTION = (
    httpx2.ReadError,
    httpx2.WriteError,
    httpx2.CloseError,
    httpx2.RemoteProtocolError,
)


class HttpRegistry(AsyncCloseable):
    """`ports.Registry` over HTTPS; loopback addresses are asked over plain HTTP.

    It sends no credentials, takes the anonymous token that a registry offers, and never carries
    that token to another host. `seconds` is what one repository may take, all pages together.
    """

    def __init__(self, *, seconds: float = 20.0) -> None:
        self._seconds = seconds
        self._client = httpx2.AsyncClient(
            follow_redirects=False,
            timeout=seconds,
            headers={
                "User-Agent": f"stockman/{__version__}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
            },
        )

    async def close(self) -> None:
        await self._client.aclose()

    async def tags(self, repository: str) -> tuple[str, ...]:
        address = _tag_list(repository)
        try:
            async with asyncio.timeout(self._seconds):
                return await _TagReader(self._client, repository, address).tags()
        except TimeoutError as error:
            raise Unreachable(
                _unreachable_problem(
                    repository, address, f"no full answer within {self._seconds:g} s"
                )
            ) from error


class _TagReader:
    """One repository being read, with the token that its registry gave."""

    def __init__(self, client: httpx2.AsyncClient, repository: str, address: httpx2.URL) -> None:
        self._client = client
        self._repository = repository
        self._address = address
        self._token = ""

    async def tags(self) -> tuple[str, ...]:
        found: list[str] = []
        page = self._address
        for _ in range(_MAX_PAGES):
            reply = await self._page(page)
            found += self._listed(reply)
            following = self._following(reply)
            if following is None:
                return tuple(found)
            page = following
        raise Rejected(
            self._odd(page, f"it lists more than {_MAX_PAGES} pages of tags, so no end is seen")
        )

    async def _page(self, address: httpx2.URL) -> httpx2.Response:
        reply = await self._get(address)
        if reply.status_code == HTTPStatus.UNAUTHORIZED and not self._token:
            self._token = await self._anonymous_token(reply)
            reply = await self._get(address)
        return self._accepted(reply)

    async def _anonymous_token(self, refusal: httpx2.Response) -> str:
        challenge = refusal.headers.get("WWW-Authenticate", "")
        scheme, _, details = challenge.partition(" ")
        asked = {name.lower(): value for name, value in _CHALLENGE.findall(details)}
        if scheme.lower() != "bearer" or "realm" not in asked:
            raise Denied(self._denied(refusal, "it offers no anonymous token"))
        try:
            realm = httpx2.URL(asked.pop("realm"))
        except httpx2.InvalidURL as error:
            raise Denied(self._denied(refusal, "its token address cannot be read")) from error
        if not _is_safe(realm):
            raise Denied(
                self._denied(refusal, f"its token address {_printable(realm)} is not HTTPS")
            )
        wanted = {name: asked[name] for name in ("service", "scope") if name in asked}
        reply = self._accepted(await self._get(realm.copy_merge_params(wanted)))
        body = self._object(reply)
        token = body.get("token") or body.get("access_token")
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise Denied(self._denied(reply, "its token service answers without a token"))
        return token

    async def _get(self, address: httpx2.URL) -> httpx2.Response:
        for _ in range(_MAX_REDIRECTS + 1):
            reply = await self._try_twice(address)
            if not reply.has_redirect_location:
                return reply
            address = self._redirected(reply)
        raise Rejected(self._odd(address, "it redirects again and again"))

    def _redirected(self, reply: httpx2.Response) -> httpx2.URL:
        address = reply.url.join(reply.headers["Location"])  # httpx2 refuses unreadable ones itself
        if not _is_safe(address):
            raise Rejected(
                self._odd(reply.url, f"it redirects to {_printable(address)}, not HTTPS")
            )
        return address

    async def _try_twice(self, address: httpx2.URL) -> httpx2.Response:
        try:
            try:
                return await self._read(address)
            except _DEAD_CONNECTION:
                return await self._read(address)
        except httpx2.TransportError as error:
            reason = str(error) or type(error).__name__
            raise Unreachable(_unreachable_problem(self._repository, address, reason)) from error
        except httpx2.DecodingError as error:
            raise Rejected(self._odd(address, "its answer cannot be unpacked")) from error

    async def _read(self, address: httpx2.URL) -> httpx2.Response:
        headers = {}
        if self._token and _origin(address) == _origin(self._address):
            headers["Authorization"] = f"Bearer {self._token}"
        async with self._client.stream("GET", address, headers=headers) as reply:
            body = bytearray()
            async for part in reply.aiter_bytes():
                body += part
                if len(body) > _MAX_BYTES:
                    size = f"its answer is larger than {_MAX_BYTES // 1024**2} MiB"
                    raise Rejected(self._odd(address, size))
            kept = [name for name in _HEADERS if name in reply.headers]
            return httpx2.Response(
                reply.status_code,
                headers=[(name, reply.headers[name]) for name in kept],
                content=bytes(body),
                request=reply.request,
            )

    def _accepted(self, reply: httpx2.Response) -> httpx2.Response:
        status = reply.status_code
        told = f"it answers {status} {_phrase(status)}".rstrip()
        if status == HTTPStatus.OK:
            return reply
        if status == HTTPStatus.NOT_FOUND:
            raise NotFound(self._missing(reply, told))
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise Denied(self._denied(reply, told))
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Unreachable(_unreachable_problem(self._repository, reply.url, told))
        raise Rejected(self._odd(reply.url, told))

    def _listed(self, reply: httpx2.Response) -> list[str]:
        tags = self._object(reply).get("tags")
        if tags is None:  # some registries write an empty list as null
            return []
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise Rejected(self._odd(reply.url, "its answer holds no list of tags"))
        return tags

    def _following(self, reply: httpx2.Response) -> httpx2.URL | None:
        found = _NEXT.search(reply.headers.get("Link", ""))
        if found is None:
            return None
        try:
            page = reply.url.join(found[1])
        except httpx2.InvalidURL as error:
            raise Rejected(self._odd(reply.url, "its next page has no readable address")) from error
        if _origin(page) != _origin(reply.url):
            raise Rejected(self._odd(reply.url, f"its next page is on another host, {page.host}"))
        return page

    def _object(self, reply: httpx2.Response) -> dict[str, object]:
        try:
            body = json.loads(reply.content)
        except (ValueError, RecursionError) as error:
            raise Rejected(self._odd(reply.url, "its answer is not JSON")) from error
        if not isinstance(body, dict):
            raise Rejected(self._odd(reply.url, "its answer is not a JSON object"))
        return body

    def _odd(self, address: httpx2.URL, why: str) -> Problem:
        return Problem(
            code="registry.answer",
            what=f"the registry of {self._repository} does not answer as registries do",
            where=_printable(address),
            why=why,
            fix="check the address of the chart; a proxy in between may have answered instead",
        )

    def _missing(self, reply: httpx2.Response, why: str) -> Problem:
        return Problem(
            code="registry.not-found",
            what=f"the registry knows no repository {self._repository}",
            where=_printable(reply.url),
            why=why,
            fix="check the address of the chart; projects move their charts at times",
        )

    def _denied(self, reply: httpx2.Response, why: str) -> Problem:
        return Problem(
            code="registry.denied",
            what=f"the registry does not show {self._repository} to the public",
            where=_printable(reply.url),
            why=why,
            fix="take a chart from a public repository, or look up its versions by hand",
        )


def _tag_list(repository: str) -> httpx2.URL:
    found = _ADDRESS.fullmatch(repository)
    if found is None or not 0 < int((found["port"] or ":443")[1:]) < 65536:
        raise Rejected(_address_problem(repository))
    scheme = "http" if _is_loopback(found["host"].strip("[]")) else "https"
    try:
        return httpx2.URL(
            f"{scheme}://{found['host']}{found['port'] or ''}/v2/{found['path']}/tags/list",
            params={"n": str(_PAGE_SIZE)},
        )
    except httpx2.InvalidURL as error:
        raise Rejected(_address_problem(repository)) from error


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_safe(address: httpx2.URL) -> bool:
    return address.scheme == "https" or (address.scheme == "http" and _is_loopback(address.host))


def _origin(address: httpx2.URL) -> tuple[str, str, int | None]:
    return (address.scheme, address.host, address.port)


def _printable(address: httpx2.URL) -> str:
    return str(address.copy_with(query=None, fragment=None, userinfo=b""))


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""


def _address_problem(repository: str) -> Problem:
    shown = re.sub(r"//[^/]*@", f"//{MASK}@", repository)
    return Problem(
        code="registry.address",
        what=f"{shown!r} is not the address of a chart in a registry",
        why="such an address has the form oci://host/path",
        fix="write it as the project's own documentation does, oci://ghcr.io/owner/charts/name",
    )


def _unreachable_problem(repository: str, address: httpx2.URL, why: str) -> Problem:
    return Problem(
        code="registry.unreachable",
        what=f"the registry of {repository} gives no answer",
        where=_printable(address),
        why=why,
        fix="try again later; check the network, $HTTPS_PROXY and whether the registry is up",
    )
