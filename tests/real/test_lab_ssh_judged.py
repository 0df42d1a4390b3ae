"""The programs of OpenSSH log in to hosts of a lab, run commands and carry files."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest
from stockman_lab.servers.serving import Serving

from lab.tests.ssh.doors import place, served
from lab.tests.worlds import NAME


class Client:
    """Programs of OpenSSH with the key of a lab."""

    def __init__(self, serving: Serving, folder: Path) -> None:
        self._where = place(serving)
        key = folder / "key"
        key.write_text(serving.hosts.ssh_key().private)
        key.chmod(0o600)
        self._options = [
            *("-F", "none", "-i", str(key), "-o", "BatchMode=yes"),
            *("-o", "StrictHostKeyChecking=accept-new", "-o", "IdentitiesOnly=yes"),
            *("-o", f"UserKnownHostsFile={folder / 'known_hosts'}"),
        ]
        self.target = f"root@{self._where.address}"

    async def run(self, program: str, *arguments: str, given: bytes = b"") -> tuple[int, str, str]:
        which = shutil.which(program)
        assert which, f"{program} of OpenSSH is needed"
        port = "-p" if program == "ssh" else "-P"
        running = await asyncio.create_subprocess_exec(
            *(which, *self._options, port, str(self._where.ssh_port), *arguments),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await running.communicate(given)
        return running.returncode or 0, out.decode(), err.decode()


def volume(serving: Serving, name: str) -> bytes:
    state, blobs = serving.world.state.clusters[NAME], serving.world.state.blobs
    return blobs.get(state.volumes[name].blob)


def test_ssh_runs_commands_and_sees_how_they_end(tmp_path: Path) -> None:
    async def step(serving: Serving) -> list[tuple[int, str]]:
        client = Client(serving, tmp_path)
        found = [
            await client.run("ssh", client.target, command)
            for command in ("hostname; id -u", "exit 7", "pvesm path local:iso/a.iso")
        ]
        return [(status, out) for status, out, _ in found]

    assert served(tmp_path, step) == [
        (0, "pve1\n0\n"),
        (7, ""),
        (0, "/var/lib/vz/template/iso/a.iso\n"),
    ]


def test_ssh_is_told_what_is_not_found(tmp_path: Path) -> None:
    async def step(serving: Serving) -> tuple[int, str, str]:
        client = Client(serving, tmp_path)
        await client.run("ssh", client.target, "true")
        return await client.run("ssh", client.target, "meadow")

    expected = (127, "", "bash: line 1: meadow: command not found\n")
    assert served(tmp_path, step) == expected


def test_ssh_carries_input(tmp_path: Path) -> None:
    content = bytes(range(256)) * 12_000

    async def step(serving: Serving) -> bytes:
        client = Client(serving, tmp_path)
        path = "/var/lib/vz/snippets/a"
        await client.run("ssh", client.target, f"tee {path} > /dev/null", given=content)
        return volume(serving, "pve1/local:snippets/a")

    assert served(tmp_path, step) == content


@pytest.mark.parametrize("program", ["sftp", "scp"])
def test_files_go_there_and_back(tmp_path: Path, program: str) -> None:
    content = bytes(range(256)) * 1_200
    there, back = tmp_path / "a.iso", tmp_path / "back.iso"
    there.write_bytes(content)
    remote = "/var/lib/vz/template/iso/a.iso"

    async def step(serving: Serving) -> list[int]:
        client = Client(serving, tmp_path)
        if program == "scp":
            first = await client.run("scp", str(there), f"{client.target}:{remote}")
            second = await client.run("scp", f"{client.target}:{remote}", str(back))
        else:
            commands = f"put {there} {remote}\nls -l /var/lib/vz/template/iso\n".encode()
            first = await client.run("sftp", "-b", "-", client.target, given=commands)
            commands = f"get {remote} {back}\nrm {remote}\n".encode()
            second = await client.run("sftp", "-b", "-", client.target, given=commands)
        return [first[0], second[0]]

    assert served(tmp_path, step) == [0, 0]
    assert back.read_bytes() == content


def test_a_stranger_is_turned_away(tmp_path: Path) -> None:
    async def step(serving: Serving) -> tuple[int, str, str]:
        client = Client(serving, tmp_path)
        return await client.run("ssh", client.target.replace("root", "ada"), "true")

    status, _, said = served(tmp_path, step)
    assert status == 255
    assert "Permission denied" in said
