"""Every talosctl speaks with machines of the lab: certificates, roles, maintenance, proxying.

What is behind the API does not matter here; one method answers. Texts that are expected come from
the programs themselves, and from the words of apid and grpc-go.
"""

from __future__ import annotations

import asyncio
import base64
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from subprocess import CompletedProcess, run

import pytest
from stockman_lab.servers.pace import Pace
from stockman_lab.servers.talos_servers import TalosServers
from stockman_lab.world.world import World

from lab.tests.talos.api.pretended import (
    PretendedLand,
    PretendedMachine,
    client,
    cluster_authority,
    few_methods,
)
from stockman.crypto.pem import CertificateAndKey

VERSIONS = ("1.11.5", "1.12.1", "1.13.9", "1.14.1")
FIRST, SECOND, DOWN, NEW, OLD_NEW = (f"127.50.0.{number}" for number in range(1, 6))
NOBODY = "127.50.0.9"

Talosctl = Callable[..., "CompletedProcess[str]"]


def now() -> datetime:
    """The moment by the clock of the client."""
    return datetime.now(UTC)  # noqa: TID251  # the program verifies certificates by it


def machines() -> list[PretendedMachine]:
    down = PretendedMachine("down", [DOWN], today=now())
    down.api = None
    new = PretendedMachine("new", [NEW], "1.13", today=now())
    old_new = PretendedMachine("old-new", [OLD_NEW], "1.12", today=now())
    for one in (new, old_new):
        one.enter_maintenance()
    return [
        PretendedMachine("first", [FIRST], "1.13", today=now()),
        PretendedMachine("second", [SECOND], "1.14", today=now(), is_controlplane=False),
        down,
        new,
        old_new,
    ]


@contextmanager
def served(scratch: Path) -> Iterator[None]:
    """The machines, on port 50000 of their addresses."""
    loop = asyncio.new_event_loop()
    ready, ending = threading.Event(), asyncio.Event()

    async def serve() -> None:
        face = TalosServers(
            PretendedLand(*machines()), Pace(World.new(), None), scratch, methods=few_methods()
        )
        face.reconcile()
        ready.set()
        await ending.wait()
        face.stop()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    try:
        assert ready.wait(20)
        yield
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join()
        loop.close()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with served(tmp_path_factory.mktemp("scratch")):
        yield


def talosconfig(who: CertificateAndKey, endpoint: str = FIRST) -> str:
    def encoded(text: str) -> str:
        return base64.b64encode(text.encode()).decode()

    return f"""context: lab
contexts:
  lab:
    endpoints: [{endpoint}]
    ca: {encoded(cluster_authority().crt)}
    crt: {encoded(who.crt)}
    key: {encoded(who.key.reveal())}
"""


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def talosctl(version: str, tmp_path: Path, real_tool: Callable[[str], Path], lab: None) -> Talosctl:
    program = real_tool(f"talosctl@{version}")

    def ask(
        *arguments: str, who: CertificateAndKey | None = None, endpoint: str = FIRST
    ) -> CompletedProcess[str]:
        path = tmp_path / "talosconfig"
        who = who or client(now() - timedelta(hours=1), "os:admin")
        path.write_text(talosconfig(who, endpoint))
        command = [str(program), "--talosconfig", str(path), *arguments]
        return run(command, capture_output=True, text=True, check=False, timeout=60)

    return ask


def test_a_machine_tells_its_version(talosctl: Talosctl) -> None:
    found = talosctl("-n", FIRST, "version")

    assert found.returncode == 0, found.stderr
    assert "Tag:         v1.13.0" in found.stdout
    assert "Enabled:     RBAC" in found.stdout


def test_another_machine_is_asked_through_the_first(talosctl: Talosctl) -> None:
    found = talosctl("-n", SECOND, "version")

    assert found.returncode == 0, found.stderr
    assert f"NODE:        {SECOND}" in found.stdout
    assert "Tag:         v1.14.0" in found.stdout


def test_of_many_machines_one_is_down(talosctl: Talosctl, version: str) -> None:
    found = talosctl("-n", f"{FIRST},{SECOND},{DOWN},{NOBODY}", "version")

    assert "v1.13.0" in found.stdout
    assert "v1.14.0" in found.stdout
    dialling = 'connection error: desc = "transport: Error while dialing: dial tcp'
    assert f"code = Unavailable desc = {dialling} {DOWN}:50000: connect: connection refused" in (
        found.stderr
    )
    assert f"{NOBODY}:50000: connect: no route to host" in found.stderr
    assert found.returncode == (1 if version.startswith("1.14") else 0)


def test_a_worker_answers_for_itself_alone(talosctl: Talosctl) -> None:
    assert talosctl("-n", SECOND, "version", endpoint=SECOND).returncode == 0

    found = talosctl("-n", FIRST, "version", endpoint=SECOND)

    assert found.returncode == 1
    assert "code = PermissionDenied desc = no request forwarding" in found.stderr


def test_a_machine_in_maintenance_asks_for_no_certificate(talosctl: Talosctl) -> None:
    found = talosctl("-n", NEW, "version", "--insecure")

    assert found.returncode == 0, found.stderr
    assert "Tag:         v1.13.0" in found.stdout


def test_an_older_machine_in_maintenance_does_not_tell_its_version(talosctl: Talosctl) -> None:
    found = talosctl("-n", OLD_NEW, "version", "--insecure")

    assert found.returncode == 1
    expected = "code = Unimplemented desc = API is not implemented in maintenance mode"
    assert expected in found.stderr


def test_a_role_that_is_too_small_is_told(talosctl: Talosctl) -> None:
    reader = client(now() - timedelta(hours=1), "os:reader")

    assert talosctl("-n", FIRST, "version", who=reader).returncode == 0
    found = talosctl("-n", FIRST, "read", "/etc/os-release", who=reader)

    assert found.returncode == 1
    assert "code = PermissionDenied desc = not authorized" in found.stderr


@pytest.mark.parametrize(
    ("who", "alert"),
    [
        ("expired", "remote error: tls: expired certificate"),
        ("foreign", "remote error: tls: unknown certificate authority"),
    ],
)
def test_who_is_not_known_is_told_why(talosctl: Talosctl, who: str, alert: str) -> None:
    start = now() - timedelta(hours=1)
    certificates = {
        "expired": client(start - timedelta(days=2), "os:admin"),
        "foreign": client(start, "os:admin", seed=2),
    }

    found = talosctl("-n", FIRST, "version", who=certificates[who])

    assert found.returncode == 1
    assert "code = Unavailable" in found.stderr
    assert alert in found.stderr


def test_without_a_certificate_nobody_is_let_in(talosctl: Talosctl) -> None:
    found = talosctl("-n", FIRST, "version", "--insecure")

    assert found.returncode == 1
    assert "remote error: tls: certificate required" in found.stderr
