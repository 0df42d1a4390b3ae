"""Hosts are logged in to over a wire: with a key or a password, for commands and for files."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from pathlib import Path

import asyncssh
import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.access.login import scramble
from stockman_lab.servers.listener import PortTaken
from stockman_lab.servers.options import ServingOptions
from stockman_lab.servers.serving import Serving
from stockman_lab.ssh.sftp import HostSftp
from stockman_lab.world.world import World

from lab.tests.ssh.doors import NOON, files, logged_in, place, served
from lab.tests.worlds import NAME, small_world

SNIPPET = "/var/lib/vz/snippets/user.yaml"


def volumes(serving: Serving) -> dict[str, bytes]:
    state, blobs = serving.world.state.clusters[NAME], serving.world.state.blobs
    return {name: blobs.get(volume.blob) for name, volume in state.volumes.items()}


def struck(effect: Effect, **more: object) -> World:
    world = small_world()
    world.faults.add(Fault(Point.SSH, effect, **more))  # type: ignore[arg-type]
    return world


def test_a_command_is_run_on_the_host_that_is_asked(tmp_path: Path) -> None:
    async def step(serving: Serving) -> list[object]:
        async with logged_in(serving, "pve2") as connection:
            first = await connection.run("hostname")
            second = await connection.run("meadow")
        return [first.stdout, first.exit_status, second.stderr, second.exit_status]

    assert served(tmp_path, step) == [
        "pve2\n",
        0,
        "bash: line 1: meadow: command not found\n",
        127,
    ]


def test_what_is_typed_in_is_run_when_no_command_is_given(tmp_path: Path) -> None:
    async def step(serving: Serving) -> object:
        async with logged_in(serving) as connection:
            return (await connection.run(input="a=1\necho $a\n")).stdout

    assert served(tmp_path, step) == "1\n"


def test_the_password_of_the_system_opens_the_door(tmp_path: Path) -> None:
    world = small_world()
    (cluster,) = world.clusters.values()
    stored = scramble("secret12", cluster.around.dice.random_bytes).stored
    cluster.state.access.system_passwords["root"] = stored

    async def step(serving: Serving) -> object:
        async with logged_in(serving, password="secret12") as connection:
            return (await connection.run("whoami")).stdout

    assert served(tmp_path, step, world) == "root\n"


@pytest.mark.parametrize(
    ("user", "password"), [("ada", None), ("root", "wrong"), ("ada", "secret12")]
)
def test_strangers_stay_outside(tmp_path: Path, user: str, password: str | None) -> None:
    async def step(serving: Serving) -> None:
        with pytest.raises(asyncssh.PermissionDenied):
            async with logged_in(serving, user=user, password=password):
                pass

    served(tmp_path, step)


def test_users_of_a_host_may_come_in_and_become_root(tmp_path: Path) -> None:
    world = small_world()
    world.state.clusters[NAME].hosts["pve1"].ssh_users.append("terraform")

    async def step(serving: Serving) -> list[object]:
        async with logged_in(serving, user="terraform") as connection:
            own = await connection.run("id -u")
            root = await connection.run("sudo -n id -u")
        return [own.stdout, root.stdout]

    assert served(tmp_path, step, world) == ["1000\n", "0\n"]


def test_a_key_that_is_not_of_the_lab_opens_nothing(tmp_path: Path) -> None:
    stranger = asyncssh.generate_private_key("ssh-ed25519")

    async def step(serving: Serving) -> None:
        where = place(serving)
        with pytest.raises(asyncssh.PermissionDenied):
            await asyncssh.connect(
                where.address,
                where.ssh_port,
                username="root",
                client_keys=[stranger],
                known_hosts=None,
                config=None,
                agent_path=None,
            )

    served(tmp_path, step)


def test_a_host_keeps_its_key(tmp_path: Path) -> None:
    world = small_world()

    async def step(serving: Serving) -> str:
        async with logged_in(serving) as connection:
            key = connection.get_server_host_key()
            assert key is not None
            return key.export_public_key().decode().split()[1]

    first, second = served(tmp_path, step, world), served(tmp_path, step, world)

    assert first == second
    assert first in world.state.clusters[NAME].ssh["pve1.pub"]


def test_input_of_a_command_becomes_a_snippet(tmp_path: Path) -> None:
    async def step(serving: Serving) -> dict[str, bytes]:
        async with logged_in(serving) as connection:
            await connection.run(f"/usr/bin/tee {SNIPPET}", input="#cloud-config\n", check=True)
        return volumes(serving)

    assert served(tmp_path, step) == {"pve1/local:snippets/user.yaml": b"#cloud-config\n"}


def test_files_are_written_looked_at_and_removed_over_sftp(tmp_path: Path) -> None:
    content = bytes(range(256)) * 1000

    async def step(serving: Serving) -> list[object]:
        async with files(serving) as sftp:
            async with sftp.open(SNIPPET, "wb") as file:
                await file.write(content)
                during = (await file.stat()).size
                await sftp.chmod(SNIPPET, 0o700)
            stat = await sftp.stat(SNIPPET)
            names = sorted(str(one) for one in await sftp.listdir("/var/lib/vz/snippets"))
            async with sftp.open(SNIPPET, "rb") as file:
                back = await file.read()
            kept = dict(volumes(serving))
            await sftp.remove(SNIPPET)
            home = await sftp.realpath(".")
        return [during, stat.size, (stat.permissions or 0) & 0o777, names, back, kept, home]

    during, size, mode, names, back, kept, home = served(tmp_path, step)

    assert (during, size, mode) == (len(content), len(content), 0o700)
    assert names == [".", "..", "user.yaml"]
    assert back == content
    assert kept == {"pve1/local:snippets/user.yaml": content}
    assert home == "/root"


def test_folders_are_made_and_files_are_renamed_over_sftp(tmp_path: Path) -> None:
    async def step(serving: Serving) -> list[object]:
        async with files(serving) as sftp:
            await sftp.makedirs("/srv/new/deep")
            async with sftp.open("/srv/new/deep/a", "w") as file:
                await file.write("x")
            async with sftp.open("/srv/new/deep/a", "a") as file:
                await file.write("y")
            await sftp.posix_rename("/srv/new/deep/a", "/srv/new/deep/b")
            content = await (await sftp.open("/srv/new/deep/b")).read()
            await sftp.rmtree("/srv/new")
            return [content, await sftp.exists("/srv/new")]

    assert served(tmp_path, step) == ["xy", False]


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("/gone/x", asyncssh.SFTPNoSuchFile),
        ("/etc/pve/user.cfg", asyncssh.SFTPPermissionDenied),
        ("/tmp", asyncssh.SFTPFailure),
    ],
)
def test_files_that_cannot_be_written_over_sftp(
    tmp_path: Path, path: str, error: type[Exception]
) -> None:
    async def step(serving: Serving) -> None:
        async with files(serving) as sftp:
            with pytest.raises(error):
                await sftp.open(path, "wb")

    served(tmp_path, step)


def test_nothing_of_this_machine_is_seen_over_sftp(tmp_path: Path) -> None:
    outside = tmp_path / "secret"
    outside.write_text("of this machine")

    async def step(serving: Serving) -> list[bool]:
        async with files(serving) as sftp:
            return [await sftp.exists(str(outside)), await sftp.exists("/etc/passwd")]

    assert served(tmp_path, step) == [False, False]


def test_every_operation_of_sftp_is_the_labs_own() -> None:
    helpers = {"channel", "connection", "env", "logger", "convert_attrs", "format_longname"}
    inherited = [
        name
        for name, _ in inspect.getmembers(asyncssh.SFTPServer)
        if not name.startswith("_") and name not in helpers and name not in vars(HostSftp)
    ]

    assert inherited == []


def test_a_fault_ends_a_command(tmp_path: Path) -> None:
    async def step(serving: Serving) -> list[object]:
        async with logged_in(serving) as connection:
            result = await connection.run("qm list")
        return [result.exit_status, result.stderr]

    world = struck(Effect.FAIL, match={"command": "qm *"}, message="no more wool", status=5)
    assert served(tmp_path, step, world) == [5, "no more wool\n"]


@pytest.mark.parametrize(
    ("effect", "status", "is_written"),
    [
        (Effect.CLAIM, 0, False),
        (Effect.DO_THEN_FAIL, 1, True),
        (Effect.CUT, None, False),
        (Effect.DO_THEN_CUT, None, True),
    ],
)
def test_a_fault_can_strike_before_or_after_the_work(
    tmp_path: Path, effect: Effect, status: int | None, is_written: bool
) -> None:
    async def step(serving: Serving) -> tuple[object, bool]:
        async with logged_in(serving) as connection:
            ended = await connection.run(f"echo x > {SNIPPET}")
        return ended.exit_status, bool(volumes(serving))

    assert served(tmp_path, step, struck(effect)) == (status, is_written)


def test_a_fault_can_strike_a_file(tmp_path: Path) -> None:
    async def step(serving: Serving) -> None:
        async with files(serving) as sftp:
            with pytest.raises(asyncssh.SFTPFailure, match="no more wool"):
                await sftp.stat("/tmp")
            assert await sftp.isdir("/tmp")

    world = struck(Effect.FAIL, match={"command": "sftp stat /tmp"}, message="no more wool")
    served(tmp_path, step, world)


@pytest.mark.parametrize(
    ("effect", "text", "is_made"),
    [
        (Effect.FAIL, "Failure", False),
        (Effect.DO_THEN_FAIL, "Failure", True),
        (Effect.CLAIM, "", False),
        (Effect.DELAY, "", True),
        (Effect.CUT, "Connection lost", False),
        (Effect.DO_THEN_CUT, "Connection lost", True),
    ],
)
def test_a_fault_can_strike_what_is_done_with_files(
    tmp_path: Path, effect: Effect, text: str, is_made: bool
) -> None:
    async def step(serving: Serving) -> tuple[str, bool, float]:
        before, heard = serving.world.now, ""
        async with files(serving) as sftp:
            try:
                await sftp.mkdir("/root/fold")
            except (asyncssh.SFTPError, asyncssh.ConnectionLost) as error:
                heard = error.reason
        passed = serving.world.now - before
        async with files(serving) as sftp:
            return heard, await sftp.isdir("/root/fold"), passed

    world = struck(effect, match={"command": "sftp mkdir *"}, seconds=50)
    heard, made, passed = served(tmp_path, step, world)
    assert (heard, made) == (text, is_made)
    assert (passed >= 50) is (effect is Effect.DELAY)


def test_files_can_be_claimed_to_be_there(tmp_path: Path) -> None:
    async def step(serving: Serving) -> list[object]:
        async with files(serving) as sftp:
            async with sftp.open(SNIPPET, "w") as claimed:
                await claimed.write("wool")
            values: list[object] = [await sftp.listdir("/root")]
        return [*values, volumes(serving)]

    world = struck(Effect.CLAIM, match={"command": "sftp *"}, times=None)
    assert served(tmp_path, step, world) == [[], {}]


@pytest.mark.parametrize("command", ["hostname", "sftp stat *"])
def test_what_hangs_is_never_answered(tmp_path: Path, command: str) -> None:
    async def step(serving: Serving) -> object:
        async with logged_in(serving) as connection:
            sftp = await connection.start_sftp_client()
            work = connection.run("hostname") if command == "hostname" else sftp.stat("/root")
            hanging = asyncio.ensure_future(work)
            assert (await connection.run("id -u")).stdout == "0\n"
            was_done = hanging.done()
            hanging.cancel()
            connection.abort()
        return was_done

    world = struck(Effect.HANG, match={"command": command})
    assert served(tmp_path, step, world) is False


def test_a_command_can_be_late(tmp_path: Path) -> None:
    async def step(serving: Serving) -> float:
        before = serving.world.now
        async with logged_in(serving) as connection:
            assert (await connection.run("hostname")).stdout == "pve1\n"
        return serving.world.now - before

    assert served(tmp_path, step, struck(Effect.DELAY, seconds=50)) >= 50


def test_a_host_without_power_does_not_answer(tmp_path: Path) -> None:
    async def step(serving: Serving) -> None:
        async with logged_in(serving) as connection:
            serving.world.state.clusters[NAME].hosts["pve1"].has_power = False
            assert (await connection.run("hostname")).exit_status is None
        with pytest.raises((asyncssh.Error, OSError)):
            async with logged_in(serving):
                pass

    served(tmp_path, step)


def test_a_port_that_is_taken_is_said_to_be(tmp_path: Path) -> None:
    async def step(serving: Serving) -> int:
        taken = place(serving).ssh_port
        other = Serving(small_world(), ServingOptions(port=0, ssh_port=taken), tmp_path, NOON)
        with pytest.raises(PortTaken) as caught:
            await other.start()
        return caught.value.port - taken

    assert served(tmp_path, step) == 0


def test_a_lab_without_visitors_does_not_load_the_library() -> None:
    script = (
        "import sys; import stockman_lab.servers.serving, stockman_lab.commands.runtime.serve;"
        " print('asyncssh' in sys.modules)"
    )

    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )

    assert result.stdout == "False\n"
