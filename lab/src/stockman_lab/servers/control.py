"""The door for who runs the lab: how it is, what goes wrong in it, how time goes, and its end."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import parse_qs, urlsplit

from stockman_lab.core.faults import Fault
from stockman_lab.core.saved import Unreadable, plain, restored
from stockman_lab.http.server import HttpServer
from stockman_lab.servers.serving import Serving
from stockman_lab.talos.state import Stage
from stockman_lab.talos.status import is_ready

if TYPE_CHECKING:
    from stockman_lab.http.messages import Outcome, Request, Response
    from stockman_lab.talos.fleet import Fleet
    from stockman_lab.talos.machine import Machine

Shown: TypeAlias = dict[str, object]


def machine_rows(fleet: Fleet) -> list[Shown]:
    """All machines of a world, by name, in a line each."""
    return sorted((_row(machine) for machine in fleet.machines), key=lambda row: str(row["name"]))


def _row(machine: Machine) -> Shown:
    return {
        "name": machine.hostname or machine.state.name,
        "cluster": machine.state.cluster,
        "vmid": machine.state.vmid,
        "address": machine.address,
        "stage": machine.state.stage.value,
        "version": machine.version,
        "ready": _ready(machine),
    }


def _ready(machine: Machine) -> bool:
    return machine.state.stage is Stage.RUNNING and is_ready(machine)


_ADDRESS = "127.0.0.1"


class ControlServer:
    """Answers on an address of this machine whoever knows the token."""

    def __init__(
        self, serving: Serving, token: str, environment: Callable[[], dict[str, str]]
    ) -> None:
        self._serving = serving
        self._token = f"Bearer {token}"
        self._server = HttpServer(self._answer, lambda: serving.world.now)
        self.ending: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when somebody asked for the end."""
        self._routes: dict[tuple[str, str], Callable[[dict[str, object]], object]] = {
            ("GET", "status"): self._status,
            ("GET", "environment"): lambda _: environment(),
            ("GET", "log"): self._log,
            ("GET", "machines"): self._machines,
            ("GET", "faults"): self._faults,
            ("POST", "faults"): self._add_fault,
            ("POST", "forget"): self._forget_fault,
            ("POST", "clock"): self._clock,
            ("POST", "power"): self._power,
            ("POST", "down"): self._down,
        }

    async def start(self) -> int:
        """Listen; returns the port."""
        return await self._server.start(_ADDRESS, 0)

    async def stop(self) -> None:
        await self._server.stop()

    def _answer(self, request: Request) -> Outcome:
        shown = request.headers.get("authorization", "")
        if not hmac.compare_digest(shown.encode("utf-8", "replace"), self._token.encode()):
            return _json(401, {"error": "that is not the token of this lab"})
        parts = urlsplit(request.target)
        route = self._routes.get((request.method, parts.path.strip("/")))
        if route is None:
            return _json(404, {"error": "there is no such thing to ask for"})
        try:
            given = json.loads(request.body) if request.body else {}
            given |= {name: values[-1] for name, values in parse_qs(parts.query).items()}
            return _json(200, {"data": route(given)})
        except (ValueError, TypeError) as error:
            return _json(400, {"error": str(error)})

    def _status(self, request: dict[str, object]) -> object:
        del request
        world, pace = self._serving.world, self._serving.pace
        pace.catch_up()
        return {
            "now": world.now,
            "speed": pace.speed,
            "faults": len(world.faults.listed),
            "repositories": world.state.repositories,
            "clusters": [
                {
                    "name": cluster.name,
                    "profile": cluster.state.profile,
                    "quorate": cluster.is_quorate,
                    "hosts": [
                        {"name": host.name, "address": host.address, "power": host.has_power}
                        for host in cluster.state.hosts.values()
                    ],
                    "guests": len(cluster.state.guests),
                    "running": sum(guest.is_running for guest in cluster.state.guests.values()),
                    "tasks": sum(task.is_running for task in cluster.state.tasks.values()),
                }
                for cluster in world.clusters.values()
            ],
            "machines": self._machines({}),
        }

    def _machines(self, request: dict[str, object]) -> object:
        del request
        self._serving.pace.catch_up()
        if not self._serving.world.talos.by_key:
            return []
        return machine_rows(self._serving.world.talos)

    def _log(self, request: dict[str, object]) -> object:
        lines = list(self._serving.log)
        return lines[-int(str(request.get("lines", 100))) :]

    def _faults(self, request: dict[str, object]) -> object:
        del request
        return plain(self._serving.world.faults.listed)

    def _add_fault(self, request: dict[str, object]) -> object:
        try:
            fault = restored(Fault, request)
        except Unreadable as error:
            raise ValueError(str(error)) from None
        self._serving.pace.catch_up()
        made = plain(self._serving.world.faults.add(fault))
        self._serving.world.strike()
        self._serving.machines.happened()
        self._serving.pace.go_on()
        return made

    def _forget_fault(self, request: dict[str, object]) -> object:
        number = int(str(request["number"]))
        if not self._serving.world.take_back(number):
            raise ValueError(f"there is no fault {number}")
        self._serving.machines.happened()
        self._serving.pace.go_on()
        return {"removed": True}

    def _clock(self, request: dict[str, object]) -> object:
        pace = self._serving.pace
        if "speed" in request:
            speed = request["speed"]
            pace.set_speed(None if speed is None else float(str(speed)))
        if "advance" in request:
            pace.jump(float(str(request["advance"])))
        pace.catch_up()
        return {"now": self._serving.world.now, "speed": pace.speed}

    def _power(self, request: dict[str, object]) -> object:
        self._serving.pace.catch_up()
        self._serving.world.switch(str(request["host"]), on=bool(request["on"]))
        self._serving.machines.happened()
        self._serving.pace.go_on()
        return {"on": bool(request["on"])}

    def _down(self, request: dict[str, object]) -> object:
        del request
        if not self.ending.done():
            self.ending.set_result(None)
        return {"down": True}


def _json(status: int, body: dict[str, object]) -> Response:
    from stockman_lab.http.messages import JSON, Response

    return Response(status, "OK" if status < 400 else "No", JSON, json.dumps(body).encode())
