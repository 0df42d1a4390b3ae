"""Nobody but a machine itself gets its first configuration, which has every secret."""

from __future__ import annotations

from pathlib import Path

import pytest
from stockman_lab.pve.api.call import Upload
from stockman_lab.talos import booting
from stockman_lab.world.residents import post

from stockman.app.runs.plans import PlanOptions
from stockman.planning.vm.desired import guest_owner
from stockman.steps.step import Stage
from stockman.steps.vm.seed import seed_owner, seed_prefix
from tests.acceptance.invariants import Watch
from tests.acceptance.process import Process
from tests.acceptance.reference import bootstrap_reference, reference, scale_up_reference
from tests.acceptance.scene import Scene, Versions
from tests.acceptance.test_bootstrap import COVERING
from tests.acceptance.test_canaries import secrets_of

ADDRESSES = {"talos-neo": "127.68.0.17", "talos-tank": "127.68.0.31"}
VMS = PlanOptions(only=(Stage.VMS,))


@pytest.mark.parametrize("versions", COVERING, ids=str)
def test_a_tls_proxy_before_every_node_reads_no_secret_during_a_bootstrap(
    versions: Versions, tmp_path: Path
) -> None:
    whole = bootstrap_reference(versions)
    secrets = secrets_of(whole.scene(tmp_path))

    read = b"".join(whole.life.process.told_strangers)

    assert [name for name, secret in secrets.items() if secret.encode() in read] == []
    assert not any("ApplyConfiguration" in call.what for call in whole.life.process.calls)


@pytest.mark.parametrize("node", ["talos-neo", "talos-tank"])
def test_a_machine_that_takes_the_address_of_a_node_gets_nothing(node: str, tmp_path: Path) -> None:
    """A member of etcd, and a worker."""
    scene = scale_up_reference().scene(tmp_path)
    thief = next(one for one in scene.world.talos.machines if one.state.name == "talos-dozer")
    booting.enter_maintenance(thief)
    scene.spoofed = {ADDRESSES[node]: str(thief.addresses[0])}

    life = scene.apply()

    assert {problem.code for problem in life.refused} == {"node.first-config"}
    assert any(node in problem.what for problem in life.refused)
    assert {write.system for write in life.process.writes} <= {"journal", "lock"}


def test_a_vm_that_waits_in_maintenance_mode_since_an_earlier_run_gets_its_image(
    tmp_path: Path,
) -> None:
    scene = Scene.made(tmp_path)
    assert scene.apply(wish=VMS).is_done
    scene.world.advance(300.0)
    watch = Watch(scene, had_quorum=False)

    life = scene.apply()

    assert life.is_done, life.why
    assert not any("ApplyConfiguration" in call.what for call in life.process.calls)
    assert watch.over(life) == []


def test_images_of_interrupted_runs_are_deleted(tmp_path: Path) -> None:
    scene = reference().scene(tmp_path)
    cluster = next(iter(scene.world.clusters.values()))
    path = "/nodes/neo/storage/local/upload"
    owner = seed_owner(guest_owner(scene.session(Process()).workspace.desired))
    names = tuple(f"{seed_prefix(key, 'talos-neo')}0123456789ab.iso" for key in (owner, "x"))
    for name in names:
        post(cluster, path, {"content": "iso", "filename": name}, Upload(name, b"secret"))
    scene.world.settle()

    life = scene.apply()

    assert life.is_done, life.why
    left = {volume.id for volume in cluster.state.volumes.values() if volume.content == "iso"}
    assert left == {f"local:iso/{names[1]}"}
