"""Wires into a world: every call is counted, and carries the credentials that it would have."""

from __future__ import annotations

import ssl
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from stockman_lab.kube.api.messages import Request as KubeRequest
from stockman_lab.kube.api.messages import Response, read_query
from stockman_lab.pve.api.api import Api
from stockman_lab.pve.api.call import ApiReply, ApiRequest, Later, Outcome, Upload
from stockman_lab.servers.images_port import WorldImagesWire
from stockman_lab.servers.kube_calls import KubeCalls, NoCluster
from stockman_lab.servers.talos_port import WorldTalosWire
from stockman_lab.talos.status import has_static_pods
from stockman_lab.world.world import World

from stockman.kubernetes import problems as kube_problems
from stockman.kubernetes import transport as kube
from stockman.kubernetes.errors import lost_reply
from stockman.kubernetes.errors import reply_error as kube_refusal
from stockman.model.errors import Unreachable
from stockman.model.names import MachineAddress
from stockman.proxmox import transport as pve
from stockman.proxmox.errors import ErrorReply, reply_error, unknown_outcome
from stockman.talos.api import transport as talos
from stockman.talos.api.errors import talos_problem
from stockman.talos.image_api import references as images
from stockman.talos.records.operations import MaintenanceMachine
from tests.acceptance.process import Call, Process

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_BAD = 400
_NO_ANSWER = 596
_PATIENCE = 20.0
"""Seconds of the world until a connection without an answer is given up."""


class _Broken(Exception):
    """The connection ended before the answer."""


class ProxmoxWire:
    """Carries calls to one host, with a token in the header."""

    def __init__(
        self, world: World, process: Process, header: Callable[[], str], name: str = "proxmox"
    ) -> None:
        self._world = world
        self._process = process
        self._header = header
        self._name = name
        self._api: Api | None = None

    async def call(self, request: pve.Request) -> pve.Reply:
        call = Call(self._name, request.shown, is_write=not request.is_read)
        header = self._header()
        self._process.before(call)
        try:
            return await self._sent(request, header)
        finally:
            if not self._process.is_dead:
                self._process.after(call)

    async def _sent(self, request: pve.Request, header: str) -> pve.Reply:
        """A read is made once more where the connection breaks, as the adapter does it."""
        try:
            return await self._call(request, header)
        except _Broken:
            if not request.is_read:
                raise unknown_outcome(request, "the connection was lost") from None
        try:
            return await self._call(request, header)
        except _Broken:
            raise self._silence(request) from None

    async def _call(self, request: pve.Request, header: str) -> pve.Reply:
        cluster = next(iter(self._world.clusters.values()))
        host = next(iter(cluster.state.hosts.values()))
        if not host.has_power:
            raise self._silence(request)
        if self._api is None:
            self._api = Api(cluster)
        outgoing = self._api.perform(
            host,
            ApiRequest(
                method=request.method,
                path=request.quoted,
                params=_parameters(request),
                headers={"authorization": header},
                upload=await _file(request),
            ),
        )
        reply = outgoing if isinstance(outgoing, ApiReply) else self._conclude(outgoing)
        if reply.outcome is not Outcome.ANSWER or not host.has_power:
            raise _Broken
        if reply.wait:
            self._world.advance(reply.wait)
        body = reply.body or {}
        if reply.status >= _BAD:
            errors = body.get("errors")
            refused = ErrorReply(
                status=reply.status,
                reason=reply.reason,
                message=str(body.get("message", "")),
                errors=errors if isinstance(errors, dict) else {},
            )
            raise reply_error(request, refused)
        total, changes = body.get("total"), body.get("changes")
        return pve.Reply(
            data=body.get("data"),
            total=total if isinstance(total, int) else None,
            changes=str(changes or ""),
        )

    def _silence(self, request: pve.Request) -> Exception:
        self._world.advance(_PATIENCE)
        return reply_error(request, ErrorReply(status=_NO_ANSWER, reason="Connection timed out"))

    def _conclude(self, later: Later) -> ApiReply:
        if later.seconds is not None:
            self._world.advance(later.seconds)
            return later.conclude(None)
        found: list[object] = []
        if later.begin is not None:
            later.begin(found.append)
        while not found and self._world.timeline.next_at is not None:
            self._world.timeline.run_until(self._world.timeline.next_at)
        return later.conclude(found[0])


def _parameters(request: pve.Request) -> dict[str, object]:
    found: dict[str, object] = {}
    for name, text in request.pairs:
        known = found.get(name)
        if known is None:
            found[name] = text
        elif isinstance(known, list):
            known.append(text)
        else:
            found[name] = [known, text]
    if request.upload is not None:
        found["filename"] = request.upload.name
    return found


async def _file(request: pve.Request) -> Upload | None:
    if request.upload is None:
        return None
    pieces = [piece async for piece in request.upload.read()]
    return Upload(request.upload.name, b"".join(pieces))


class TalosWire:
    """Carries calls to machines."""

    def __init__(self, world: World, process: Process, spoofed: Mapping[str, str]) -> None:
        self._inner = _SpoofedWire(world, spoofed) if spoofed else WorldTalosWire(world)
        self._process = process

    async def unary(self, request: talos.TalosRequest) -> bytes:
        if request.stranger is not None:
            self._process.told_strangers.append(request.message)
        talos_call = _talos_call(request)
        self._process.before(talos_call)
        try:
            return await self._inner.unary(request)
        finally:
            if not self._process.is_dead:
                self._process.after(talos_call)

    async def upload(self, request: talos.TalosRequest, messages: AsyncIterable[bytes]) -> bytes:
        talos_call = _talos_call(request)
        self._process.before(talos_call)
        try:
            return await self._inner.upload(request, messages)
        finally:
            if not self._process.is_dead:
                self._process.after(talos_call)

    async def stream(self, request: talos.TalosRequest) -> AsyncGenerator[bytes, None]:
        talos_call = _talos_call(request)
        self._process.before(talos_call)
        try:
            async with aclosing(self._inner.stream(request)) as pieces:
                async for piece in pieces:
                    yield piece
        finally:
            if not self._process.is_dead:
                self._process.after(talos_call)


class _SpoofedWire(WorldTalosWire):
    """Machines whose addresses are taken by others, which wait in maintenance mode."""

    def __init__(self, world: World, spoofed: Mapping[str, str]) -> None:
        super().__init__(world)
        self._spoofed = spoofed
        """Addresses of the others by the taken addresses."""

    def _dial(self, request: talos.TalosRequest) -> Machine:
        if request.stranger is None and str(request.node) in self._spoofed:
            raise Unreachable(talos_problem("talos.unreachable", str(request.node), "no route"))
        return super()._dial(request)

    def _stranger(self, stranger: MaintenanceMachine) -> Machine:
        address = self._spoofed.get(stranger.address, stranger.address)
        return super()._stranger(replace(stranger, address=MachineAddress(address)))


def _talos_call(request: talos.TalosRequest) -> Call:
    return Call("talos", request.shown, is_write=not request.is_read)


class KubernetesWire:
    """Carries calls to the address that machines share, or to nobody while nobody has it."""

    def __init__(self, world: World, process: Process, address: str, certificate: str) -> None:
        self._world = world
        self._process = process
        self._address = address
        self._certificate = ssl.PEM_cert_to_DER_cert(certificate)
        self._calls = KubeCalls(world.talos, lambda: world.kubernetes)

    async def call(self, request: kube.Request) -> kube.Reply:
        call = Call("kubernetes", request.shown, is_write=not request.is_read)
        self._process.before(call)
        try:
            found = self._answer_for(request)
            body = found.body + b"".join([one async for one in _stream_body(found)])
            return _kube_reply(found, body)
        finally:
            if not self._process.is_dead:
                self._process.after(call)

    async def stream(self, request: kube.Request) -> AsyncGenerator[bytes, None]:
        call = Call("kubernetes", f"{request.shown} (stream)", is_write=not request.is_read)
        self._process.before(call)
        found = self._answer_for(request)
        reply = _kube_reply(found, found.body)
        if not reply.is_good:
            raise kube_refusal(request, reply)
        if found.body:
            yield found.body
        async for piece in _stream_body(found):
            yield piece

    def _machine(self, request: kube.Request) -> Machine:
        for machine in self._world.talos.on():
            if self._address not in machine.addresses or not machine.is_reachable:
                continue
            if has_static_pods(machine) and machine.runs("kubelet"):
                return machine
        raise Unreachable(kube_problems.unreachable(request.shown, "connection refused"))

    def _answer_for(self, request: kube.Request) -> Response:
        parts = urlsplit(request.target)
        headers = {"user-agent": "stockman", "accept": request.accepts}
        if request.body:
            headers["content-type"] = request.content_type
        kube_request = KubeRequest(
            method=request.method,
            path=unquote(parts.path),
            query=read_query(parts.query),
            headers=headers,
            body=request.body,
        )
        try:
            answer = self._calls.answer(self._machine(request), kube_request, self._certificate)
        except NoCluster:
            raise lost_reply(request, "the connection was lost") from None
        if answer.seconds:
            self._world.advance(answer.seconds)
        if answer.response is None and not answer.is_cut:
            self._world.advance(request.seconds)
        if answer.response is None or answer.is_cut:
            raise lost_reply(request, "the connection was lost")
        return answer.response


def _kube_reply(response: Response, body: bytes) -> kube.Reply:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return kube.Reply(status=response.status, body=body, headers=headers)


async def _stream_body(response: Response) -> AsyncIterator[bytes]:
    if response.stream is not None:
        async for piece in response.stream:
            yield piece


class ImagesWire:
    """Carries questions to the Image Factory."""

    def __init__(self, world: World, process: Process) -> None:
        self._inner = WorldImagesWire(world)
        self._process = process

    async def ask(self, question: images.ImageRequest) -> images.ImageResponse:
        call = Call("images", question.shown, is_write=question.method == "POST")
        self._process.before(call)
        try:
            return await self._inner.ask(question)
        finally:
            if not self._process.is_dead:
                self._process.after(call)

    @asynccontextmanager
    async def stream(self, question: images.ImageRequest) -> AsyncIterator[images.ImageStream]:
        self._process.before(Call("images", question.shown, is_write=False))
        async with self._inner.stream(question) as stream:
            yield stream
