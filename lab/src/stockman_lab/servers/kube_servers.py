"""The Kubernetes API over HTTPS: control plane machines answer on their addresses."""

from __future__ import annotations

import asyncio
import errno
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote

from stockman_lab.core.dice import Dice
from stockman_lab.http.go_style import go_rules
from stockman_lab.http.messages import Cut, Hang, Outcome, Request, Response, Stream
from stockman_lab.http.parsing import split_target
from stockman_lab.http.server import HttpServer
from stockman_lab.servers.listener import Listener, PortTaken
from stockman_lab.talos.status import has_static_pods

if TYPE_CHECKING:
    import ssl

    from stockman_lab.kube.api.messages import Request as Asked
    from stockman_lab.servers.kube_calls import Answer, KubeCalls
    from stockman_lab.servers.pace import Pace
    from stockman_lab.servers.talos_servers import Placing
    from stockman_lab.talos.machine import Machine
    from stockman_lab.world.world import World

KUBE_PORT = 6443
_BODY_BYTES = 4 << 20
"""Somewhat more than the server takes: it says so itself, and says more than that."""
_PATIENCE = 5.0
"""Seconds of real time after which somebody who watches and does not read is given up."""
_LOOK_EVERY = 1.0
"""Seconds of real time after which those who watch look at the clock."""
_FAREWELL = 0.05
"""Seconds of real time for what is to be said yet when a server goes down."""

Endpoint: TypeAlias = tuple[str, int]
Stamp: TypeAlias = tuple[int, tuple[str, ...], float, str]


@dataclass
class _Door:
    """One open port."""

    listener: Listener
    server: HttpServer

    def close(self) -> None:
        """Let nobody in any more, and break off with who is there a moment later."""
        self.listener.close()
        asyncio.get_running_loop().call_later(_FAREWELL, self.server.cut)

    def cut(self) -> None:
        self.listener.close()
        self.server.cut()


@dataclass
class _Open:
    stamp: Stamp
    doors: dict[Endpoint, _Door]


class KubeServers:
    """Opens and closes the doors of API servers as machines come and go."""

    def __init__(
        self,
        world: World,
        pace: Pace,
        scratch: Path,
        placing: Placing,
        seen: Callable[[str], None] | None = None,
    ) -> None:
        self._world = world
        self._land = world.talos
        self._pace = pace
        self._scratch = scratch
        self._placing = placing
        self._seen = seen
        self._open: dict[str, _Open] = {}
        self._calls: KubeCalls | None = None
        self._watching = 0
        self._ticking: asyncio.TimerHandle | None = None
        pace.listeners.append(self.happened)

    def place_of(self, machine: Machine, address: str) -> Endpoint | None:
        """Where an address of a machine answers; None: it does not."""
        found = self._open.get(machine.key)
        door = None if found is None else found.doors.get((address, KUBE_PORT))
        return None if door is None else (door.listener.address, door.listener.port)

    @property
    def calls(self) -> KubeCalls:
        """What answers; imported for the first request: the doors open without it."""
        if self._calls is None:
            from stockman_lab.servers.kube_calls import KubeCalls

            self._calls = KubeCalls(self._land, lambda: self._world.kubernetes)
        return self._calls

    def happened(self) -> None:
        """Called after something in the world changed."""
        try:
            self.reconcile()
        except PortTaken as taken:
            self._tell(f"somebody else listens at {taken}")
        if self._calls is not None:
            self._calls.clusters.ring()

    def reconcile(self) -> None:
        """Open and close what has to be; `PortTaken` where somebody else listens.

        First all that closes: the shared address goes from one machine to another.
        """
        looked_at = {one.key: (one, _stamp(one)) for one in self._land.machines}
        for key in list(self._open):
            if key not in looked_at or looked_at[key][1] != self._open[key].stamp:
                for door in self._open.pop(key).doors.values():
                    door.close()
        taken: PortTaken | None = None
        for key, (machine, stamp) in looked_at.items():
            if stamp is None or key in self._open:
                continue
            doors: dict[Endpoint, _Door] = {}
            try:
                for address in stamp[1]:
                    self._try(doors, machine, address)
                self._open[key] = _Open(stamp, doors)
            except PortTaken as error:
                taken = error
                for door in doors.values():
                    door.cut()
        if taken is not None:
            raise taken

    def stop(self) -> None:
        """Close everything, and break off with everybody."""
        self._pace.listeners.remove(self.happened)
        if self._ticking is not None:
            self._ticking.cancel()
        for found in self._open.values():
            for door in found.doors.values():
                door.cut()
        self._open.clear()

    def _try(self, doors: dict[Endpoint, _Door], machine: Machine, address: str) -> None:
        placing = self._placing(machine, address, KUBE_PORT)
        if placing is None:
            return
        rules = go_rules(
            body_bytes=_BODY_BYTES,
            asks_for_certificates=True,
            any_method=True,
            oversized=_body_too_large,
            patience=_PATIENCE,
        )
        server = HttpServer(
            lambda request: self._answer_request(machine, request), lambda: self._land.now, rules
        )
        made = server.opened(lambda: self._context(machine))
        try:
            doors[address, KUBE_PORT] = _Door(Listener(*placing, made), server)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise PortTaken(*placing) from None
            raise

    def _context(self, machine: Machine) -> ssl.SSLContext:
        from stockman_lab.servers.kube_certificates import server_context, serving_certificate

        config = machine.config
        if config is None:
            raise RuntimeError("a machine without a configuration serves nothing")
        # Dice of their own: whether anybody asks changes nothing in the world.
        dice = Dice(machine.state.vmid, 1 << 45)
        shown = serving_certificate(machine, config, dice.random_bytes)
        trusted = "\n".join([config.k8s_ca.crt, *config.k8s_accepted_cas])
        return server_context(shown, trusted, self._scratch)

    # --- requests ---------------------------------------------------------------------------------

    def _answer_request(
        self, machine: Machine, request: Request
    ) -> Outcome | asyncio.Future[Outcome]:
        from stockman_lab.servers.kube_calls import NoCluster

        self._pace.catch_up()
        path, query = split_target(request.target)
        self._tell(f"{machine.hostname} {request.method} {request.target}")
        try:
            answer = self.calls.answer(
                machine, _api_request(request, unquote(path), query), request.certificate
            )
        except NoCluster:
            return Cut()
        self._pace.go_on()
        is_stream = answer.response is not None and answer.response.stream is not None
        if answer.seconds and not (is_stream and answer.is_cut):
            return asyncio.ensure_future(self._later(answer))
        return self._outcome(answer)

    async def _later(self, answer: Answer) -> Outcome:
        await self._pace.wait(answer.seconds)
        return self._outcome(answer)

    def _outcome(self, answer: Answer) -> Outcome:
        response = answer.response
        if response is None or (answer.is_cut and response.stream is None):
            return Cut() if answer.is_cut else Hang()
        headers = dict(response.headers)
        if response.warnings:
            headers["Warning"] = ", ".join(response.warnings)
        outcome = Response(response.status, headers=headers, body=response.body)
        if response.stream is None:
            return outcome
        seconds = answer.seconds if answer.is_cut else None
        return Stream(self._watch_events(response.stream, seconds), outcome, answer.is_cut)

    async def _watch_events(
        self, pieces: AsyncIterator[bytes], seconds: float | None
    ) -> AsyncIterator[bytes]:
        """The events of a watch; those who watch are woken as time passes."""
        end = None if seconds is None else self._land.now + seconds
        self._watching += 1
        self._tick()
        coming: asyncio.Task[bytes] | None = None
        try:
            while end is None or self._land.now < end:
                coming = coming or asyncio.ensure_future(_next(pieces))
                await asyncio.wait({coming}, timeout=_LOOK_EVERY if end is not None else None)
                if not coming.done():
                    self._pace.catch_up()
                    continue
                piece, coming = coming.result(), None
                if not piece:
                    return
                yield piece
        finally:
            self._watching -= 1
            if coming is not None:
                coming.cancel()

    def _tick(self) -> None:
        """Look at the clock for as long as somebody watches."""
        if self._ticking is None and self._watching:
            loop = asyncio.get_running_loop()
            self._ticking = loop.call_later(_LOOK_EVERY, self._on_tick)

    def _on_tick(self) -> None:
        self._ticking = None
        self._pace.catch_up()
        self.calls.clusters.ring()
        self._tick()

    def _tell(self, line: str) -> None:
        if self._seen is not None:
            self._seen(line)


def _body_too_large() -> Response:
    """What is said of a body that is not even read to its end."""
    from stockman_lab.kube.api import answers
    from stockman_lab.kube.api.decoding import too_large

    made = answers.refused(too_large())
    return Response(made.status, headers=made.headers, body=made.body, close=True)


async def _next(pieces: AsyncIterator[bytes]) -> bytes:
    """The next piece; empty: there is none."""
    return await anext(pieces, b"")


def _api_request(request: Request, path: str, query: str) -> Asked:
    from stockman_lab.kube.api.messages import Request as Made
    from stockman_lab.kube.api.messages import read_query

    return Made(
        request.method,
        path,
        read_query(query),
        request.headers,
        request.body,
    )


def _stamp(machine: Machine) -> Stamp | None:
    """What doors depend on; None: nobody listens."""
    config = machine.config
    if config is None or not machine.is_controlplane or not machine.is_reachable:
        return None
    if not has_static_pods(machine) or not machine.runs("kubelet"):
        return None
    ready_at = machine.state.kubernetes.static_pods_ready_at or 0.0
    return machine.state.boot, tuple(machine.addresses), ready_at, config.k8s_ca.crt
