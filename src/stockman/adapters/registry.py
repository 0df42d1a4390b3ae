"""The tag list of the OCI distribution protocol over HTTP."""

from __future__ import annotations

import asyncio
import ipaddress
import json
import re
from http import HTTPStatus

import httpx2

from stockman.adapters import http
from stockman.adapters.tls import AsyncCloseable
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


class HttpRegistry(AsyncCloseable):
    """`Registry` over HTTPS; plain HTTP for loopback addresses.

    It sends no credentials, uses the anonymous token that a registry offers, and never sends
    that token to another host. `seconds` limits the time for one repository with all pages.
    """

    def __init__(self, *, seconds: float = 20.0) -> None:
        self._seconds = seconds
        self._client = http.create_client(
            True,
            httpx2.Timeout(seconds),
            trust_env=True,
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
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
                    repository, address, f"no complete reply within {self._seconds:g} s"
                )
            ) from error


class _TagReader:
    """Reads the tags of one repository with an anonymous token."""

    def __init__(self, client: httpx2.AsyncClient, repository: str, address: httpx2.URL) -> None:
        self._client = client
        self._repository = repository
        self._address = address
        self._token = ""

    async def tags(self) -> tuple[str, ...]:
        tags: list[str] = []
        page = self._address
        for _ in range(_MAX_PAGES):
            reply = await self._page(page)
            tags += self._parse_tags(reply)
            following = self._next_page(reply)
            if following is None:
                return tuple(tags)
            page = following
        raise Rejected(
            self._answer_problem(page, f"its list has more than {_MAX_PAGES} pages of tags")
        )

    async def _page(self, address: httpx2.URL) -> httpx2.Response:
        reply = await self._get(address)
        if reply.status_code == HTTPStatus.UNAUTHORIZED and not self._token:
            self._token = await self._anonymous_token(reply)
            reply = await self._get(address)
        return self._check_status(reply)

    async def _anonymous_token(self, reply: httpx2.Response) -> str:
        challenge = reply.headers.get("WWW-Authenticate", "")
        scheme, _, details = challenge.partition(" ")
        challenge_fields = {name.lower(): value for name, value in _CHALLENGE.findall(details)}
        if scheme.lower() != "bearer" or "realm" not in challenge_fields:
            raise Denied(self._denied_problem(reply, "it offers no anonymous token"))
        try:
            realm = httpx2.URL(challenge_fields.pop("realm"))
        except httpx2.InvalidURL as error:
            raise Denied(
                self._denied_problem(reply, "the address of its token service is invalid")
            ) from error
        if not _is_safe(realm):
            raise Denied(
                self._denied_problem(
                    reply, f"the address of its token service {_printable(realm)} is not HTTPS"
                )
            )
        parameters = {
            name: challenge_fields[name]
            for name in ("service", "scope")
            if name in challenge_fields
        }
        reply = self._check_status(await self._get(realm.copy_merge_params(parameters)))
        body = self._object(reply)
        token = body.get("token") or body.get("access_token")
        if not isinstance(token, str) or not _TOKEN.fullmatch(token):
            raise Denied(self._denied_problem(reply, "its token service returns no token"))
        return token

    async def _get(self, address: httpx2.URL) -> httpx2.Response:
        for _ in range(_MAX_REDIRECTS + 1):
            reply = await self._try_twice(address)
            if not reply.has_redirect_location:
                return reply
            address = self._redirect_target(reply)
        raise Rejected(self._answer_problem(address, "too many redirects"))

    def _redirect_target(self, reply: httpx2.Response) -> httpx2.URL:
        address = reply.url.join(reply.headers["Location"])  # httpx2 refuses unreadable ones itself
        if not _is_safe(address):
            raise Rejected(
                self._answer_problem(reply.url, f"it redirects to {_printable(address)}, not HTTPS")
            )
        return address

    async def _try_twice(self, address: httpx2.URL) -> httpx2.Response:
        try:
            return await http.send_twice(lambda: self._read(address))
        except httpx2.TransportError as error:
            reason = str(error) or type(error).__name__
            raise Unreachable(_unreachable_problem(self._repository, address, reason)) from error
        except httpx2.DecodingError as error:
            raise Rejected(
                self._answer_problem(address, "its reply cannot be decompressed")
            ) from error

    async def _read(self, address: httpx2.URL) -> httpx2.Response:
        headers = {}
        if self._token and _origin(address) == _origin(self._address):
            headers["Authorization"] = f"Bearer {self._token}"
        async with self._client.stream("GET", address, headers=headers) as reply:
            body = await http.read_body(
                reply, _MAX_BYTES, lambda why: Rejected(self._answer_problem(address, why))
            )
            kept = [name for name in _HEADERS if name in reply.headers]
            return httpx2.Response(
                reply.status_code,
                headers=[(name, reply.headers[name]) for name in kept],
                content=body,
                request=reply.request,
            )

    def _check_status(self, reply: httpx2.Response) -> httpx2.Response:
        status = reply.status_code
        reason = f"it replies {status} {_phrase(status)}".rstrip()
        if status == HTTPStatus.OK:
            return reply
        if status == HTTPStatus.NOT_FOUND:
            raise NotFound(self._not_found_problem(reply, reason))
        if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
            raise Denied(self._denied_problem(reply, reason))
        if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise Unreachable(_unreachable_problem(self._repository, reply.url, reason))
        raise Rejected(self._answer_problem(reply.url, reason))

    def _parse_tags(self, reply: httpx2.Response) -> list[str]:
        tags = self._object(reply).get("tags")
        if tags is None:  # some registries encode an empty list as null
            return []
        if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
            raise Rejected(self._answer_problem(reply.url, "its reply contains no list of tags"))
        return tags

    def _next_page(self, reply: httpx2.Response) -> httpx2.URL | None:
        match = _NEXT.search(reply.headers.get("Link", ""))
        if match is None:
            return None
        try:
            page = reply.url.join(match[1])
        except httpx2.InvalidURL as error:
            raise Rejected(
                self._answer_problem(reply.url, "the address of its next page is invalid")
            ) from error
        if _origin(page) != _origin(reply.url):
            raise Rejected(
                self._answer_problem(reply.url, f"its next page is on another host, {page.host}")
            )
        return page

    def _object(self, reply: httpx2.Response) -> dict[str, object]:
        try:
            body = json.loads(reply.content)
        except (ValueError, RecursionError) as error:
            raise Rejected(self._answer_problem(reply.url, "its reply is not JSON")) from error
        if not isinstance(body, dict):
            raise Rejected(self._answer_problem(reply.url, "its reply is not a JSON object"))
        return body

    def _answer_problem(self, address: httpx2.URL, why: str) -> Problem:
        return Problem(
            code="registry.answer",
            what=f"unexpected response from the registry of {self._repository}",
            where=_printable(address),
            why=why,
            fix="check the address of the chart; a proxy may have answered instead",
        )

    def _not_found_problem(self, reply: httpx2.Response, why: str) -> Problem:
        return Problem(
            code="registry.not-found",
            what=f"the repository {self._repository} does not exist in the registry",
            where=_printable(reply.url),
            why=why,
            fix="check the address of the chart; the project may have moved it",
        )

    def _denied_problem(self, reply: httpx2.Response, why: str) -> Problem:
        return Problem(
            code="registry.denied",
            what=f"the registry denies public access to {self._repository}",
            where=_printable(reply.url),
            why=why,
            fix="use a chart from a public repository, or look up its versions manually",
        )


def _tag_list(repository: str) -> httpx2.URL:
    match = _ADDRESS.fullmatch(repository)
    if match is None or not 0 < int((match["port"] or ":443")[1:]) < 65536:
        raise Rejected(_address_problem(repository))
    scheme = "http" if _is_loopback(match["host"].strip("[]")) else "https"
    try:
        return httpx2.URL(
            f"{scheme}://{match['host']}{match['port'] or ''}/v2/{match['path']}/tags/list",
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
        why="the address must have the form oci://host/path",
        fix="use the address in the documentation of the project, oci://ghcr.io/owner/charts/name",
    )


def _unreachable_problem(repository: str, address: httpx2.URL, why: str) -> Problem:
    return Problem(
        code="registry.unreachable",
        what=f"the registry of {repository} does not respond",
        where=_printable(address),
        why=why,
        fix="try again later; check the network, $HTTPS_PROXY and whether the registry is up",
    )
