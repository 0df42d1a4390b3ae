"""Stories of configurations: brought to new machines, changed, tried, patched, edited."""

from __future__ import annotations

import re
from pathlib import Path

from stockman_lab.talos.machine import Machine
from stockman_lab.talos.state import Stage

from tests.real.talos.golden import agrees
from tests.real.talos.maintenance import configuration
from tests.real.talos.served import Lab, Talosctl, refused, stage_of, succeeded, together

_SWAPPINESS = re.compile(rb'vm.swappiness: "?(\d+)')


def a_new_machine_is_made(lab: Lab, client: str, server: str, *, installs: bool) -> None:
    """From maintenance to a cluster of one: looked at, configured, bootstrapped once."""
    machine, before = lab.machine(), lab.talosctl(client)
    file = _file(lab, configuration(server, installs=installs))
    assert stage_of(machine) is Stage.MAINTENANCE
    is_blind = client.startswith("1.14") and server.startswith("1.12")
    disks, dry = together(
        lambda: before("get", "disks", "--insecure"),
        lambda: before("apply-config", "--insecure", "--dry-run", "-f", file),
    )
    if is_blind:
        refused(disks, "API is not implemented in maintenance mode")
    else:
        assert "QEMU HARDDISK" in succeeded(disks).stdout
    assert "Dry run summary:" in succeeded(dry).stderr
    assert stage_of(machine) is Stage.MAINTENANCE

    succeeded(before("apply-config", "--insecure", "-f", file))
    lab.settle()

    assert machine.state.config == file.read_bytes()
    assert machine.disk is not None
    assert machine.disk.config == file.read_bytes()
    assert machine.state.slot == "A"
    assert stage_of(machine) is Stage.BOOTING  # nobody bootstrapped it
    ask = lab.talosctl(client)
    succeeded(ask("bootstrap"))
    lab.settle()
    assert stage_of(machine) is Stage.RUNNING
    assert [member.name for member in lab.etcd.members.values()] == [machine.hostname]
    agrees(lab, "bootstrap-again", client, ask("bootstrap"))


def configurations_are_applied(lab: Lab, client: str, server: str) -> None:
    """Every mode does what it says, and a dry run does nothing."""
    machine, ask = lab.machine(), lab.talosctl(client)
    boot = machine.state.boot_id
    dry = succeeded(ask("apply-config", "--dry-run", "-f", _with(lab, machine, 7)))
    agrees(lab, "apply-config-dry-run", client, dry)
    assert _kept(machine) == (b"", b"")

    applied = ask("apply-config", "-f", _with(lab, machine, 1), "--mode", "auto")
    agrees(lab, "apply-config", client, succeeded(applied))
    assert _kept(machine) == (b"1", b"1")
    succeeded(ask("apply-config", "-f", _with(lab, machine, 2), "--mode", "no-reboot"))
    assert _kept(machine) == (b"2", b"2")
    succeeded(ask("apply-config", "-f", _with(lab, machine, 3), "--mode", "staged"))
    assert _kept(machine) == (b"2", b"3")
    tried = ask("apply-config", "-f", _with(lab, machine, 4), "--mode", "try", "--timeout", "90s")
    agrees(lab, "apply-config-try", client, succeeded(tried))
    lab.settle()
    assert _kept(machine) == (b"2", b"3")  # taken back in memory; what is staged stays
    assert machine.state.boot_id == boot
    _with_a_file(lab, machine, ask, server)


def configurations_are_patched(lab: Lab, client: str, server: str) -> None:
    """`patch mc` and `edit mc`, which some releases cannot do with machines of others."""
    machine, ask = lab.machine(), lab.talosctl(client)
    before = machine.state.config
    if client.startswith("1.11") and not server.startswith("1.11"):
        refused(ask("patch", "mc", "-p", _patch(1)), "expected a mapping node")
        assert machine.state.config == before
        return
    if (client[:4], server[:4]) == ("1.13", "1.14"):
        refused(ask("patch", "mc", "-p", _patch(1)), "DiscoveryServiceConfig", "not registered")
        assert machine.state.config == before
        return

    patched = succeeded(ask("patch", "mc", "-p", _patch(1), "--mode", "no-reboot"))

    agrees(lab, "patch-mc", client, patched)
    assert _kept(machine) == (b"1", b"1")
    drops = client.startswith("1.12") and server.startswith("1.11")
    documents = machine.state.config.count(b"\n---\n")
    assert documents == (0 if drops else before.count(b"\n---\n"))
    succeeded(ask("patch", "mc", "-p", _patch(2), "--mode", "staged"))
    assert _kept(machine) == (b"1", b"2")
    succeeded(ask("patch", "mc", "-p", _patch(3), "--mode", "try"))
    lab.settle()
    assert _kept(machine) == (b"1", b"2")
    succeeded(ask("patch", "mc", "-p", _patch(4), "--dry-run"))
    assert _kept(machine) == (b"1", b"2")
    ask.environment["EDITOR"] = str(_editor(lab))
    succeeded(ask("edit", "mc"))
    assert _kept(machine) == (b"55", b"55")
    again = succeeded(ask("edit", "mc"))
    assert "Apply was skipped: no changes detected." in again.stderr


def _with_a_file(lab: Lab, machine: Machine, ask: Talosctl, server: str) -> None:
    """A change that older machines reboot for, and newer ones take as it is."""
    boot = machine.state.boot_id
    told = b"machine:\n    files:\n        - {path: /var/x, op: create, content: a}\n"
    file = _file(lab, machine.state.config.replace(b"machine:\n", told, 1))
    answer = ask("apply-config", "-f", file, "--mode", "no-reboot")
    if server.startswith("1.14"):
        succeeded(answer)
        assert b"/var/x" in machine.state.config
        return
    refused(answer, "code = InvalidArgument desc = this config change can't be applied in")
    assert b"/var/x" not in machine.state.config
    found = succeeded(ask("apply-config", "-f", file))
    assert "Applied configuration with a reboot: this config change can't be" in found.stderr
    lab.settle()
    assert machine.state.boot_id != boot
    assert b"/var/x" in machine.state.config


def _file(lab: Lab, text: bytes) -> Path:
    file = lab.scratch / "machine.yaml"
    file.write_bytes(text)
    return file


def _with(lab: Lab, machine: Machine, value: int) -> Path:
    """The configuration of a machine with another setting of its kernel."""
    text = machine.state.config
    if _SWAPPINESS.search(text):
        return _file(lab, _SWAPPINESS.sub(b'vm.swappiness: "%d' % value, text))
    told = b'machine:\n    sysctls:\n        vm.swappiness: "%d"\n' % value
    return _file(lab, text.replace(b"machine:\n", told, 1))


def _kept(machine: Machine) -> tuple[bytes, bytes]:
    """The setting in memory, and the one on the disk."""
    assert machine.disk is not None
    found = [_SWAPPINESS.search(one) for one in (machine.state.config, machine.disk.config)]
    first, second = (one.group(1) if one else b"" for one in found)
    return first, second


def _patch(value: int) -> str:
    return f'{{"machine":{{"sysctls":{{"vm.swappiness":"{value}"}}}}}}'


def _editor(lab: Lab) -> Path:
    editor = lab.scratch / "editor"
    editor.write_text('#!/bin/sh\nsed -i \'s/swappiness: .*/swappiness: "55"/\' "$1"\n')
    editor.chmod(0o755)
    return editor
