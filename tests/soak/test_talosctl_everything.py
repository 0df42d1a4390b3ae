"""Every release of talosctl with machines of its own minor and of those beside it: everything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from stockman_lab.etcd.snapshots import snapshot
from stockman_lab.world.world import World

from tests.real.talos.maintenance import from_image, from_medium, without_etcd
from tests.real.talos.pairs import EVERY
from tests.real.talos.served import VERSIONS, Lab, served, staged
from tests.real.talos.stories import cluster, configuring, etcd, machine, power, recovering
from tools.pytest_plugin import RealTool

Story = Callable[[Lab, str, str], None]


def target(server: str) -> str:
    """What a machine is upgraded to: the next minor, or the newest one again."""
    return VERSIONS[min(VERSIONS.index(server) + 1, len(VERSIONS) - 1)]


def three(server: str) -> World:
    return staged("three-node", server)


def one(server: str) -> World:
    return staged("single", server)


def _modes(client: str, server: str) -> tuple[str, ...]:
    is_oldest = "1.11.5" in (client, server)
    return ("default", "powercycle") if is_oldest else ("default", "powercycle", "force")


STORIES: dict[str, tuple[Callable[[str], World], Story]] = {
    "members": (three, lambda lab, client, _: etcd.members_are_shown(lab, client)),
    "alarms": (three, lambda lab, client, _: etcd.alarms_are_disarmed(lab, client)),
    "leaders": (three, lambda lab, client, _: etcd.leadership_moves(lab, client)),
    "leaving": (three, lambda lab, client, _: etcd.members_go(lab, client)),
    "quorum": (three, lambda lab, client, _: etcd.without_quorum(lab, client)),
    "medium": (
        from_medium,
        lambda lab, client, server: configuring.a_new_machine_is_made(
            lab, client, server, installs=True
        ),
    ),
    "image": (
        from_image,
        lambda lab, client, server: configuring.a_new_machine_is_made(
            lab, client, server, installs=False
        ),
    ),
    "apply": (one, configuring.configurations_are_applied),
    "patch": (one, configuring.configurations_are_patched),
    "reboot": (
        one,
        lambda lab, client, server: power.machines_reboot(
            lab, client, server, _modes(client, server)
        ),
    ),
    "shutdown": (one, lambda lab, client, _: power.a_machine_shuts_down(lab, client)),
    "wiping": (one, lambda lab, client, _: power.parts_are_wiped(lab, client)),
    "reset": (three, lambda lab, client, _: power.a_member_resets_gracefully(lab, client)),
    "upgrade": (
        one,
        lambda lab, client, server: power.a_machine_is_upgraded(
            lab, client, server, target(server)
        ),
    ),
    "upgrade-legacy": (
        one,
        lambda lab, client, server: power.a_machine_is_upgraded_the_old_way(
            lab, client, target(server), stage=False
        ),
    ),
    "upgrade-staged": (
        one,
        lambda lab, client, server: power.a_machine_is_upgraded_the_old_way(
            lab, client, target(server), stage=True
        ),
    ),
    "guard": (
        three,
        lambda lab, client, server: power.etcd_is_guarded(lab, client, server, target(server)),
    ),
    "services": (one, lambda lab, client, _: machine.services_are_steered(lab, client)),
    "files": (one, lambda lab, client, _: machine.files_are_made_for_clients(lab, client)),
    "values": (one, lambda lab, client, _: machine.values_are_kept(lab, client)),
    "images": (one, machine.images_are_pulled),
    "roles": (three, lambda lab, client, _: cluster.roles_are_kept(lab, client)),
    "expired": (three, lambda lab, client, _: cluster.nobody_is_let_in_late(lab, client)),
    "many": (three, lambda lab, client, _: cluster.many_are_asked(lab, client)),
    "health": (three, lambda lab, client, _: cluster.health_is_told(lab, client)),
    "ill": (three, lambda lab, client, _: cluster.an_ill_member_is_told(lab, client)),
    "rotation": (three, lambda lab, client, _: cluster.rotation_is_rehearsed(lab, client)),
}


@pytest.mark.parametrize(("client", "server"), EVERY)
@pytest.mark.parametrize("story", STORIES)
def test_talosctl_believes(
    story: str, client: str, server: str, tmp_path: Path, real_tool: RealTool
) -> None:
    world, told = STORIES[story]
    with served(world(server), tmp_path, real_tool) as lab:
        told(lab, client, server)


@pytest.mark.parametrize(("client", "server"), EVERY)
def test_a_cluster_is_recovered(
    client: str, server: str, tmp_path: Path, real_tool: RealTool
) -> None:
    (before,) = one(server).state.talos.etcd.values()
    file = tmp_path / "db.snapshot"
    file.write_bytes(b"".join(snapshot(before)))
    with served(without_etcd(server), tmp_path, real_tool) as lab:
        recovering.a_cluster_is_recovered(lab, client, file)
