"""The lab: requests, lists, memory and start-up, each against something in the same run.

    python -m bench.lab

Prints the ratios with their limits; exits with 1 when one is over.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from http.client import HTTPSConnection
from pathlib import Path

from bench.measure import least, least_call
from bench.ratio import Ratio, report

REQUESTS = 2_000
ROUNDS = 5
VMS = 1_000
MANY_VMS = 5_000
MIB = 1 << 20


def ratios() -> list[Ratio]:
    """Everything that is measured here."""
    return [*_requests(), _resources(), *_memory(), _start_up()]


def _requests() -> list[Ratio]:
    """CPU time of a minimal handler against that of the API, on the same server."""
    minimal = min(_served_seconds("minimal") for _ in range(ROUNDS))
    api = min(_served_seconds("api") for _ in range(ROUNDS))
    detail = f"{minimal / REQUESTS * 1e6:.0f} us / {api / REQUESTS * 1e6:.0f} us a request"
    return [Ratio("API request / minimal handler", api / minimal, 4.0, detail)]


def _served_seconds(kind: str) -> float:
    """CPU seconds that a server spends on many requests over kept connections."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench.lab", "serve", kind, folder]
        with subprocess.Popen(command, env=_environment(), stdout=subprocess.PIPE) as server:
            assert server.stdout is not None
            answer = json.loads(server.stdout.readline())
            try:
                _ask(answer, 200)
                begin = _cpu(server.pid)
                _ask(answer, REQUESTS)
                return _cpu(server.pid) - begin
            finally:
                server.send_signal(signal.SIGTERM)


def _ask(answer: dict[str, str], count: int) -> None:
    context = ssl.create_default_context(cadata=answer["ca"])
    headers = {"Authorization": answer["authorization"]}
    left = count
    while left:
        connection = HTTPSConnection(answer["address"], int(answer["port"]), context=context)
        for _ in range(min(left, 100)):
            connection.request("GET", "/api2/json/version", headers=headers)
            reply = connection.getresponse()
            reply.read()
            assert reply.status == 200
            left -= 1
        connection.close()


def serve(kind: str, folder: str) -> None:
    """Serve a small world, or next to nothing, until killed."""
    asyncio.run(_serve(kind, Path(folder)))


async def _serve(kind: str, scratch: Path) -> None:
    from stockman_lab.http.messages import JSON, Response
    from stockman_lab.servers.memory import MemoryClient
    from stockman_lab.servers.options import ServingOptions
    from stockman_lab.servers.serving import Serving

    from lab.tests.worlds import NAME, small_world

    world = small_world()
    serving = Serving(world, ServingOptions(port=0), scratch, datetime.now(UTC))
    await serving.start()
    temporary = MemoryClient(world, NAME).post("/access/users/root@pam/token/lab", privsep=0)
    assert isinstance(temporary, dict)
    if kind == "minimal":
        body = b'{"data":{"release":"9.1","repoid":"7e6ae3dcc6e6ee0d","version":"9.1.9"}}'
        for server in serving.hosts.servers:
            server.handler = lambda _: Response(200, "OK", JSON, body)
    authority = serving.hosts.authority(world.clusters[NAME])
    answer = {
        "address": serving.hosts.places[0].address,
        "port": str(serving.hosts.places[0].port),
        "ca": authority.certificate.pem,
        "authorization": f"PVEAPIToken=root@pam!lab={temporary['value']}",
    }
    print(json.dumps(answer), flush=True)
    await asyncio.get_running_loop().create_future()


def _resources() -> Ratio:
    """A list of a thousand guests against the JSON of its own reply."""
    client = _with_guests(VMS)
    data = client("/cluster/resources")
    encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode
    measured = least_call(
        {"list": lambda: encode({"data": client("/cluster/resources")}),
         "json": lambda: encode({"data": data})},
        ROUNDS,
    )  # fmt: skip
    detail = f"{measured['list'] * 1000:.1f} ms / {measured['json'] * 1000:.1f} ms"
    return Ratio(
        f"list of {VMS} guests / its JSON", measured["list"] / measured["json"], 20.0, detail
    )


def _with_guests(count: int) -> Callable[[str], object]:
    from lab.tests.worlds import door

    client = door()
    for number in range(count):
        client.post(
            "/nodes/pve1/qemu",
            vmid=100 + number,
            name=f"sheep-{number}",
            memory=2048,
            cores=2,
            net0="virtio,bridge=vmbr0",
            scsi0="ceph:8",
        )
        client.world.settle()
    assert len(client.cluster.state.guests) == count
    return client.get


def _memory() -> list[Ratio]:
    """Memory of a process with many guests, in MiB."""
    command = [sys.executable, "-m", "bench.lab", "memory", str(MANY_VMS)]
    answer = subprocess.run(command, env=_environment(), capture_output=True, check=True).stdout
    before, after = (int(text) for text in answer.split())
    each = (after - before) / MANY_VMS / 1024
    return [
        Ratio(f"MiB with {MANY_VMS} guests", after / MIB, 300.0, f"{each:.1f} KiB for each"),
    ]


def memory(count: int) -> None:
    """Print the largest memory of this process before and after it made guests."""
    _with_guests(1)
    before = _resident()
    client = _with_guests(count)
    after = _resident()
    assert client("/version")
    print(before, after)


def _resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _start_up() -> Ratio:
    """CPU time until the doors are open, in starts of a bare interpreter."""
    bare = least({"bare": [sys.executable, "-c", "pass"]}, _environment(), 15)["bare"]
    ready = min(_ready_seconds(number) for number in range(ROUNDS))
    detail = f"{ready * 1000:.0f} ms / {bare * 1000:.0f} ms"
    return Ratio("lab up / bare interpreter", ready / bare, 12.0, detail)


def _ready_seconds(number: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "lab.state")
        command = [
            sys.executable, "-m", "stockman", "lab", "up",
            "--network", f"127.{120 + number}.0.0/16", "--state", str(state),
        ]  # fmt: skip
        with subprocess.Popen(command, env=_environment(), stderr=subprocess.DEVNULL) as process:
            try:
                while not Path(f"{state}.run").exists():
                    assert process.poll() is None
                    time.sleep(0.001)
                return _cpu(process.pid)
            finally:
                process.send_signal(signal.SIGTERM)


def _cpu(pid: int) -> float:
    """CPU seconds of a process so far, to the nanosecond that the scheduler counts."""
    text = Path(f"/proc/{pid}/schedstat").read_text()
    return int(text.split()[0]) / 1e9


def _environment() -> dict[str, str]:
    return {
        "LANG": "C.UTF-8",
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(sys.path),
    }


def main(arguments: list[str]) -> int:
    """Measure, or be one of the processes that are measured."""
    match arguments:
        case ["serve", kind, folder]:
            serve(kind, folder)
        case ["memory", count]:
            memory(int(count))
        case _:
            return report(ratios())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
