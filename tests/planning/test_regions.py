"""Machines in two Proxmox clusters: each is looked at, planned and changed for itself."""

from ipaddress import IPv4Network

import pytest
from stockman_lab.world.preset import PresetOptions, preset_world

from stockman.model.problem import Problems
from stockman.planning.access.rotation import plan_rotation
from stockman.planning.change import unique_steps
from stockman.planning.destruction import plan_destruction
from stockman.steps.step import Stage
from tests.planning.estate import NO_HA, Estate, perform

CLUSTERS = """\
proxmox:
  clusters:
    - region: pve
      endpoint: https://127.66.0.4:8006
      token_id: stockman@pve!stockman
      token_secret: ${PROXMOX_TOKEN_SECRET}
      image_storage: cephfs
      hosts: {trinity: {}, neo: {}, niobe: {}}
    - region: west
      endpoint: https://127.67.0.4:8006
      token_id: stockman@pve!stockman
      token_secret: ${WEST_TOKEN_SECRET}
      image_storage: cephfs
      hosts: {trinity: {}, neo: {}, niobe: {}}
"""


@pytest.fixture
def estate() -> Estate:
    """Two machines in one region, and one in another of an older version."""
    estate = Estate("three-node")
    wish = PresetOptions(preset="three-node", network=IPv4Network("127.67.0.0/16"), profile="8.4")
    (state,) = preset_world(wish).state.clusters.values()
    state.name = "west"
    estate.world.add_cluster(state)
    estate.edit("nodes.yaml", NO_HA, "")
    estate.edit("nodes.yaml", "vmid: 1032, host: niobe", "vmid: 1032, host: niobe, region: west")
    estate.edit("nodes.yaml", "vmid: 1031, host: neo", "vmid: 1031, host: neo, region: pve")
    estate.edit("nodes.yaml", "vmid: 1030, host: trinity", "vmid: 1030, host: trinity, region: pve")
    estate.edit("cluster.yaml", r"^proxmox_.*\n", "")
    estate.edit("cluster.yaml", r"^proxmox:\n(  .*\n)*", CLUSTERS)
    return estate


def guests(estate: Estate, region: str) -> list[int]:
    clusters = estate.world.clusters
    world_cluster = clusters[region] if region in clusters else next(iter(clusters.values()))
    return sorted(world_cluster.state.guests)


async def test_every_machine_is_made_in_its_own_region(estate: Estate) -> None:
    first = await estate.apply()
    second = await estate.plan()

    assert guests(estate, "pve") == [1030, 1031]
    assert guests(estate, "west") == [1032]
    assert {change.region for change in first.changes} == {"pve", "west"}
    assert {"access/ready/pve", "access/ready/west"} <= {step.id for step in first.plan.steps}
    assert sorted(estate.secrets.kept) == ["${PROXMOX_TOKEN_SECRET}", "${WEST_TOKEN_SECRET}"]
    assert second.changes == ()


async def test_images_are_fetched_in_each_region(estate: Estate) -> None:
    outcome = await estate.plan()

    fetched = [change.region for change in outcome.changes if change.what.startswith("image ")]
    assert sorted(fetched) == ["pve", "west"]


async def test_a_region_that_does_not_answer_leaves_the_other_alone(estate: Estate) -> None:
    await estate.apply()
    for host in estate.world.clusters["west"].state.hosts.values():
        host.has_power = False

    outcome = await estate.plan()

    assert outcome.changes == ()
    assert outcome.codes


async def test_a_machine_that_changes_its_region_is_made_there_and_removed_here(
    estate: Estate,
) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", "host: niobe, region: west", "host: niobe, region: pve")

    outcome = await estate.apply()

    assert guests(estate, "pve") == [1030, 1031, 1032]
    assert guests(estate, "west") == []
    assert outcome.plan.destroys == ("VM 1032 (talos-niobe) on niobe with its system disk",)
    create = outcome.plan.step("vms/create/talos-niobe")
    assert "vms/destroy/talos-niobe" in create.needs


async def test_machines_of_one_name_in_both_regions_go_both(estate: Estate) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", "1032, host: niobe, region: west", "1132, host: niobe, region: pve")
    west = (await estate.plan()).plan
    for step in west.only([Stage.IMAGES, Stage.VMS]).steps:
        if "destroy" not in step.id:
            await perform(step.action, estate.ports())
    estate.edit("nodes.yaml", r"  - name: talos-niobe\n(    .*\n)*", "")

    outcome = await estate.apply()

    assert [step.id for step in outcome.plan.steps] == [
        "vms/destroy/talos-niobe",
        "vms/destroy/talos-niobe/west/1032",
    ]
    assert (guests(estate, "pve"), guests(estate, "west")) == ([1030, 1031], [])
    assert (await estate.plan()).changes == ()


async def test_tokens_of_both_regions_are_renewed(estate: Estate) -> None:
    await estate.apply()
    problems = Problems()
    seen = await estate.observe_all()
    rotation = plan_rotation(estate.desired, seen, ("stockman",), problems, in_cluster=False)

    assert [one.region for one in rotation] == ["pve", "west"]
    assert len({step.id for step in unique_steps(rotation)}) == 4


async def test_destroying_reaches_every_region(estate: Estate) -> None:
    await estate.apply()
    problems = Problems()
    steps = unique_steps(plan_destruction(estate.desired, await estate.observe_all(), problems))
    for step in steps:
        await perform(step.action, estate.ports())

    assert list(problems) == []
    assert (guests(estate, "pve"), guests(estate, "west")) == ([], [])
