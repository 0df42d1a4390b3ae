"""What stands in the way is seen before anything is made."""

from dataclasses import replace

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.host import Pool
from stockman_lab.pve.host_power import lose_power
from stockman_lab.servers.port import WorldClock

from stockman.model.errors import Refused, Rejected
from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.problem import Problem, Problems
from stockman.planning.desired import ProxmoxOptions
from stockman.planning.fact import Unknown
from stockman.planning.stages.proxmox import plan_proxmox_changes
from stockman.steps.access.admin import admin_client_name
from stockman.steps.access.mapping import MapDevices, MappedDevice
from stockman.steps.base import GateAnswer
from stockman.steps.images.fetch import FetchImage
from stockman.steps.images.schematic import RegisterSchematic, SchematicRegistered
from stockman.steps.vm.gates import HostOnline, ProxmoxQuorum, StorageSpace
from tests.planning.estate import NO_HA, Estate, Killed, perform

GIB = 1 << 30


@pytest.fixture
def estate() -> Estate:
    """Three machines that nobody but stockman moves."""
    estate = Estate("three-node")
    estate.edit("nodes.yaml", NO_HA, "")
    return estate


def errors(estate_problems: object) -> list[str]:
    return [estate_problem.code for estate_problem in estate_problems if estate_problem.is_error]  # type: ignore[attr-defined]  # problems


async def test_a_number_that_a_stranger_has_is_said_and_nothing_is_made(estate: Estate) -> None:
    root = estate.pve
    root.done(root.post("/nodes/neo/qemu", vmid=1031, name="billing"))

    outcome = await estate.plan()

    assert errors(outcome.problems) == ["vm.taken"]
    assert sorted(next(iter(estate.world.clusters.values())).state.guests) == [1031]


async def test_an_address_that_another_card_has_is_seen_in_its_configuration(
    estate: Estate,
) -> None:
    root = estate.pve
    card = "virtio=BC:24:11:03:00:17,bridge=vmbr0"
    root.done(root.post("/nodes/neo/qemu", vmid=200, name="billing", net0=card))

    outcome = await estate.plan()

    problem = next(iter(outcome.problems))
    assert (problem.code, problem.why) == (
        "vm.mac-taken",
        "200 (billing) has a network card with this address",
    )


@pytest.mark.parametrize(("days", "is_error"), [(-1, [True]), (3, [False]), (30, [])])
async def test_a_token_that_has_an_end_is_told_in_time(
    estate: Estate, days: int, is_error: list[bool]
) -> None:
    await estate.apply()
    end = int(WorldClock(estate.world).now().timestamp()) + days * 86400
    estate.pve.put("/access/users/stockman@pve/token/stockman", expire=end)

    outcome = await estate.plan()

    expiries = [problem for problem in outcome.problems if problem.code == "proxmox.token-ends"]
    assert [problem.is_error for problem in expiries] == is_error


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"enable": 0}, "stockman uses one of its tokens, and it is not enabled"),
        (
            {"expire": 86400},
            "stockman uses one of its tokens, and it expired at 1970-01-02 00:00 UTC",
        ),
    ],
)
async def test_a_user_that_is_switched_off_is_told_to_an_administrator(
    estate: Estate, change: dict[str, int], why: str
) -> None:
    await estate.apply()
    estate.pve.put("/access/users/stockman@pve", **change)

    outcome = await estate.plan()

    assert errors(outcome.problems) == ["proxmox.user-off"]
    assert next(iter(outcome.problems)).why == why


async def test_a_token_that_is_there_and_is_turned_away_has_another_secret(estate: Estate) -> None:
    await estate.apply()
    seen, problems = await estate.observe(), Problems()
    rejection = Unknown(
        problem=Problem(code="proxmox.authentication", what="no", why="401", fix=""),
        seen=WorldClock(estate.world).now(),
        source="Proxmox cluster pve: its token",
    )

    plan_proxmox_changes(
        estate.desired, {estate.region: replace(seen, rejection=rejection)}, problems
    )

    (told,) = problems
    assert (told.code, told.where) == ("proxmox.other-secret", "stockman@pve!stockman")
    assert "`stockman secrets rotate proxmox --token stockman`" in told.fix


async def test_storages_that_the_token_may_not_see_are_not_said_to_be_missing(
    estate: Estate,
) -> None:
    for step in (await estate.plan()).plan.until("access").steps:
        await perform(step.action, estate.ports())
    estate.pve.put("/access/roles/StockmanStorages", privs="Datastore.AllocateSpace")

    outcome = await estate.plan(administrator=False)

    assert errors(outcome.problems) == ["proxmox.lacks-privilege"]


async def test_nothing_is_planned_for_guests_that_the_token_may_not_see(estate: Estate) -> None:
    await estate.apply()
    estate.pve.put("/access/roles/StockmanGuests", privs="VM.PowerMgmt")

    outcome = await estate.plan(administrator=False)

    assert errors(outcome.problems) == ["proxmox.lacks-privilege"]
    assert outcome.changes == ()


async def test_a_renamed_cluster_is_recognized(estate: Estate) -> None:
    await estate.apply()
    estate.edit("cluster.yaml", "cluster_name: k8s", "cluster_name: zion")

    outcome = await estate.plan()

    assert errors(outcome.problems) == ["vm.cluster-renamed"] * 3
    assert outcome.changes == ()


async def test_a_node_that_was_renamed_is_told_the_way(estate: Estate) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", "name: talos-niobe", "name: talos-zion")

    outcome = await estate.plan()

    assert errors(outcome.problems) == ["vm.renamed"]
    assert str(next(iter(outcome.problems.errors)).where).startswith("nodes.yaml:")


async def test_a_disk_larger_than_its_whole_storage_is_seen_though_it_would_be_thin(
    estate: Estate,
) -> None:
    estate.edit("nodes.yaml", "disk_gb: 100", "disk_gb: 90000")

    outcome = await estate.plan()

    assert outcome.codes == ["vm.larger-than-storage"] * 3
    assert next(iter(outcome.problems)).why == (
        "the disk is configured with 90000 GiB, and ceph-vm-disks has 20480 GiB in total"
    )


async def test_a_disk_does_not_grow_beyond_its_whole_storage(estate: Estate) -> None:
    await estate.apply()
    estate.edit("nodes.yaml", "disk_gb: 100", "disk_gb: 90000")

    assert set((await estate.plan()).codes) == {"vm.larger-than-storage"}


async def test_a_storage_without_room_is_seen_before_anything_is_made(estate: Estate) -> None:
    state = next(iter(estate.world.clusters.values())).state
    name = state.storages["ceph-vm-disks"].pool
    state.pools[name] = Pool(name, 8 * GIB)

    outcome = await estate.plan()

    assert errors(outcome.problems) == ["vm.no-room"]


async def test_a_host_that_does_not_exist_is_named_with_those_that_do(estate: Estate) -> None:
    estate.edit("cluster.yaml", "    niobe: {}", "    niobe: {}\n    zion: {}")
    estate.edit("nodes.yaml", "host: niobe", "host: zion")

    outcome = await estate.plan()

    problem = next(problem for problem in outcome.problems if problem.code == "vm.no-host")
    assert problem.why == "the hosts of the cluster are neo, niobe, trinity"


async def test_a_storage_that_takes_no_images_is_named(estate: Estate) -> None:
    estate.pve.put("/storage/cephfs", content="iso")

    outcome = await estate.plan()

    assert set(errors(outcome.problems)) == {"vm.no-storage"}


async def test_what_is_on_a_dead_host_is_unknown_and_not_absent(estate: Estate) -> None:
    await estate.apply()
    cluster = next(iter(estate.world.clusters.values()))
    cluster.state.hosts["niobe"].has_power = False
    estate.world.advance(120)

    outcome = await estate.plan()

    assert outcome.plan.steps == ()
    assert outcome.codes == ["proxmox.host-down"]
    assert errors(outcome.problems) == []
    unknown = outcome.observed[estate.region].configs[Vmid(1032)]
    assert unknown.source == "Proxmox cluster pve: configuration of 1032"
    assert isinstance(unknown, Unknown)


DEVICES = """
hosts:
  niobe:
    passthrough:
      pci: [{name: gpu, address: "0000:01:00"}]
      usb: [{name: stick, id: "046d:c52b"}]
"""
UNSEEN = {
    "PCI devices": "/cluster/mapping/pci",
    "USB devices": "/cluster/mapping/usb",
    "images": "/nodes/trinity/storage/cephfs/content",
}


@pytest.mark.parametrize("what", UNSEEN)
async def test_what_nobody_could_look_at_is_told_and_not_taken_for_missing(
    estate: Estate, what: str
) -> None:
    path = {"method": "GET", "path": UNSEEN[what]}
    estate.texts["nodes.yaml"] += DEVICES
    estate.world.faults.add(Fault(Point.REQUEST, Effect.FAIL, path, times=None))

    outcome = await estate.plan()

    (problem,) = outcome.problems
    assert not problem.is_error
    assert UNSEEN[what] in (problem.where or "")
    mapped = {step.id.split("/")[3] for step in outcome.plan.steps if "/mapping/" in step.id}
    assert mapped == {"PCI devices": {"usb"}, "USB devices": {"pci"}}.get(what, {"pci", "usb"})
    fetched = [change.why for change in outcome.changes if change.what.startswith("image talos-")]
    unseen = [one for one in fetched if one.startswith("it is unknown whether cephfs has it")]
    assert len(unseen) == (len(fetched) if what == "images" else 0)


@pytest.mark.parametrize("path", ["/cluster/ha/resources", "/pools"])
async def test_what_guests_are_in_is_not_left_out_because_nobody_could_look(
    path: str, estate: Estate
) -> None:
    estate.world.faults.add(Fault(Point.REQUEST, Effect.FAIL, {"method": "GET", "path": path}))

    outcome = await estate.plan()

    assert errors(outcome.problems) == ["proxmox.host-down"]


async def test_a_machine_on_a_dead_host_is_made_anew_elsewhere_under_another_number(
    estate: Estate,
) -> None:
    await estate.apply()
    next(iter(estate.world.clusters.values())).state.hosts["niobe"].has_power = False
    estate.world.advance(120)
    estate.edit("nodes.yaml", "vmid: 1032, host: niobe", "vmid: 1032, host: neo")
    stuck = await estate.plan()
    estate.edit("nodes.yaml", "vmid: 1032, host: neo", "vmid: 1132, host: neo")

    outcome = await estate.apply()

    assert errors(stuck.problems) == ["vm.stuck"]
    assert outcome.codes == ["vm.left-behind"]
    assert estate.config(1132)["name"] == "talos-niobe"
    assert (await estate.plan()).changes == ()


async def test_the_way_out_of_a_dead_host_depends_on_where_the_disks_are(estate: Estate) -> None:
    await estate.apply()
    cluster = next(iter(estate.world.clusters.values()))
    cluster.state.hosts["niobe"].has_power = False
    estate.world.advance(120)
    estate.edit("nodes.yaml", "vmid: 1032, host: niobe", "vmid: 1032, host: neo")
    (shared,) = (await estate.plan()).problems
    file = "qemu-server/1032.conf"

    cluster.state.guests[1032].node = "neo"
    moved = await estate.plan()

    assert f"`mv /etc/pve/nodes/niobe/{file} /etc/pve/nodes/neo/{file}`" in shared.fix
    assert moved.codes == []
    assert {step.node for step in moved.plan.steps} <= {"talos-niobe"}


async def test_high_availability_moves_a_machine_of_a_dead_host_and_nobody_interferes() -> None:
    estate = Estate("three-node")
    await estate.apply()
    cluster = next(iter(estate.world.clusters.values()))
    lose_power(cluster, cluster.state.hosts["niobe"])
    estate.world.advance(60)
    waiting = await estate.plan()
    estate.world.advance(300)

    after = await estate.plan()

    assert (waiting.codes, waiting.changes) == (["vm.recovering"], ())
    assert cluster.state.guests[1032].node != "niobe"
    assert (after.codes, after.changes) == (["vm.ha-elsewhere"], ())


async def test_high_availability_that_ignores_a_machine_leaves_it_stuck() -> None:
    estate = Estate("three-node")
    await estate.apply()
    cluster = next(iter(estate.world.clusters.values()))
    estate.pve.put("/cluster/ha/resources/vm:1032", state="ignored")
    lose_power(cluster, cluster.state.hosts["niobe"])
    estate.world.advance(300)
    estate.edit("nodes.yaml", "vmid: 1032, host: niobe", "vmid: 1032, host: neo")

    outcome = await estate.plan()

    assert cluster.state.guests[1032].node == "niobe"
    assert "vm.stuck" in errors(outcome.problems)


async def test_a_shared_disk_of_a_machine_that_may_come_back_is_given_to_nobody(
    estate: Estate,
) -> None:
    disk = "vm: {vmid: 1032, host: niobe, data_disks: [{name: data, size_gb: 50}]}"
    estate.edit("nodes.yaml", r"vm: \{vmid: 1032, host: niobe\}", disk)
    await estate.apply()
    next(iter(estate.world.clusters.values())).state.hosts["niobe"].has_power = False
    estate.world.advance(120)
    estate.edit("nodes.yaml", "vmid: 1032, host: niobe", "vmid: 1132, host: neo")

    outcome = await estate.plan()

    assert errors(outcome.problems) == ["vm.disk-in-use"]


async def test_a_machine_that_comes_back_beside_its_successor_is_reported_and_kept(
    estate: Estate,
) -> None:
    await estate.apply()
    cluster = next(iter(estate.world.clusters.values()))
    cluster.state.hosts["niobe"].has_power = False
    estate.world.advance(120)
    estate.edit("nodes.yaml", "vmid: 1032, host: niobe", "vmid: 1132, host: neo")
    await estate.apply()
    cluster.state.hosts["niobe"].has_power = True
    estate.world.advance(120)

    outcome = await estate.apply()

    assert outcome.plan.destroys == ()
    assert outcome.codes == ["vm.second"]
    assert sorted(cluster.state.guests) == [1030, 1031, 1032, 1132]


async def test_a_machine_of_a_host_that_was_removed_is_made_anew_under_its_number(
    estate: Estate,
) -> None:
    await estate.apply()
    state = next(iter(estate.world.clusters.values())).state
    del state.guests[1032]
    del state.hosts["niobe"]
    estate.edit("nodes.yaml", "vmid: 1032, host: niobe", "vmid: 1032, host: neo")

    create = (await estate.plan()).plan.step("vms/create/talos-niobe")
    verdicts = [await gate.check(estate.ports()) for gate in create.gates]
    pve = estate.ports().proxmox[admin_client_name(estate.region)]
    for volume in await pve.volumes(HostName("neo"), Datastore("ceph-vm-disks"), vmid=Vmid(1032)):
        await pve.delete_volume(HostName("neo"), volume.id)
    estate.world.settle()
    await estate.apply()

    (closed,) = (verdict for verdict in verdicts if verdict.answer is GateAnswer.STOP)
    assert "ceph-vm-disks:vm-1032-disk-0" in closed.because
    assert state.guests[1032].node == "neo"
    assert (await estate.plan()).changes == ()


async def test_machines_cannot_be_made_on_a_host_that_is_off(estate: Estate) -> None:
    await ready(estate)
    cluster = next(iter(estate.world.clusters.values()))
    cluster.state.hosts["niobe"].has_power = False
    estate.world.advance(120)

    outcome = await estate.plan()
    verdict = await HostOnline(cluster=estate.region, host=HostName("niobe")).check(estate.ports())

    assert "vm.host-offline" in errors(outcome.problems)
    assert (verdict.answer, verdict.because) == (GateAnswer.WAIT, "niobe is offline")


async def test_devices_by_address_are_refused_with_the_reason(estate: Estate) -> None:
    estate.edit("nodes.yaml", "host: niobe", 'host: niobe, pci: [{address: "0000:01:00.0"}]')

    outcome = await estate.plan()

    assert errors(outcome.problems) == ["vm.raw-device"]


async def test_a_device_that_is_not_mapped_is_named(estate: Estate) -> None:
    estate.edit("nodes.yaml", "host: niobe", "host: niobe, pci: [{mapping: gpu}]")

    outcome = await estate.plan()

    assert errors(outcome.problems) == ["vm.no-mapping"]


async def test_another_device_than_the_files_say_is_not_mapped(estate: Estate) -> None:
    device = MappedDevice(host=HostName("neo"), place="0000:77:00.0", id="10de:2571")
    action = MapDevices(cluster=estate.region, name="gpu", bus="pci", devices=(device,))

    with pytest.raises(Refused, match=r"proxmox\.device"):
        await perform(action, estate.ports())


async def test_gates_say_the_numbers_that_they_saw(estate: Estate) -> None:
    await estate.apply()
    ports, region = estate.ports(), estate.region
    place = {"cluster": region, "host": HostName("neo")}
    much = StorageSpace(**place, storage=Datastore("cephfs"), bytes=1 << 60)  # type: ignore[arg-type]  # unpacked
    none = StorageSpace(**place, storage=Datastore("nowhere"), bytes=1)  # type: ignore[arg-type]  # unpacked

    quorum = await ProxmoxQuorum(cluster=region).check(ports)

    assert (quorum.answer, quorum.because) == (GateAnswer.GO, "3 of 3 hosts are online")
    assert (await much.check(ports)).answer is GateAnswer.STOP
    assert (await none.check(ports)).because == "neo has no storage nowhere"


URL = "https://factory.talos.dev/image/{}/v1.11.0/nocloud-amd64.qcow2"
PLAIN = "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba"


def fetch(estate: Estate, *, asks_checksum: bool = False, **more: str) -> FetchImage:
    return FetchImage(
        cluster=estate.region,
        host=HostName("neo"),
        storage=Datastore("cephfs"),
        name="talos-one.qcow2",
        url=more.pop("url", URL.format(PLAIN)),
        asks_checksum=asks_checksum,
        **more,
    )


async def ready(estate: Estate) -> None:
    """Let the token of stockman have its rights."""
    ports = estate.ports()
    for step in (await estate.plan()).plan.until("access").steps:
        await perform(step.action, ports)


async def test_an_image_that_arrives_cut_is_deleted_again(estate: Estate) -> None:
    await ready(estate)
    estate.outside.cut = -1

    with pytest.raises(Rejected, match=r"image\.size"):
        await perform(fetch(estate), estate.ports())
    estate.outside.cut = None

    assert await perform(fetch(estate), estate.ports()) is True
    assert await perform(fetch(estate), estate.ports()) is False


async def test_an_image_that_is_changed_on_the_way_is_refused_where_the_factory_tells_checksums(
    estate: Estate,
) -> None:
    await ready(estate)
    estate.world.factory.enterprise = True
    estate.outside.swaps = True
    action = fetch(estate, asks_checksum=True)

    with pytest.raises(Refused, match=r"image\.checksum") as caught:
        await perform(action, estate.ports())
    volumes = await estate.ports().on(estate.region).volumes(action.host, action.storage)
    estate.outside.swaps = False

    assert "its server reports" in caught.value.problem.what
    assert [volume.id for volume in volumes] == []
    assert await perform(action, estate.ports()) is True


async def test_the_public_factory_lets_an_image_be_known_by_its_size_alone(estate: Estate) -> None:
    await ready(estate)
    estate.outside.swaps = True

    assert await perform(fetch(estate, asks_checksum=True), estate.ports()) is True

    assert any("download-url" in line for line in estate.trigger.log)


async def test_a_plan_says_by_what_images_are_known(estate: Estate) -> None:
    downloads = [
        change for change in (await estate.plan()).changes if change.what.startswith("image talos-")
    ]

    fetched = [step.action for one in downloads for step in one.steps]
    assert downloads
    assert all("if the factory provides no checksum, only its size" in one.why for one in downloads)
    assert all(one.asks_checksum for one in fetched if isinstance(one, FetchImage))


WRONG = {"sha256": "0" * 64, "sha512": "0" * 128}


@pytest.mark.parametrize("algorithm", WRONG)
@pytest.mark.parametrize("way", ["fetched", "sent"])
async def test_an_image_with_another_checksum_is_refused_and_nothing_is_kept_of_it(
    estate: Estate, way: str, algorithm: str
) -> None:
    await ready(estate)
    if way == "sent":
        estate.outside.world = None
    action = fetch(estate, checksum=f"{algorithm}:{WRONG[algorithm]}")

    with pytest.raises(Refused, match=r"image\.checksum"):
        await perform(action, estate.ports())

    volumes = await estate.ports().on(estate.region).volumes(action.host, action.storage)
    assert [volume.id for volume in volumes] == []


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_an_image_is_sent_again_when_the_one_that_sent_it_died(
    estate: Estate, *, after: bool
) -> None:
    await ready(estate)
    estate.outside.world = None
    call, finished = 0, False
    while not finished:
        call += 1
        estate.trigger.left, estate.trigger.after = call, after
        try:
            await perform(fetch(estate), estate.ports())
        except Killed:
            continue
        finished = True
    estate.trigger.left = -1

    assert call > 2
    assert await perform(fetch(estate), estate.ports()) is False


async def test_a_host_without_a_way_out_is_sent_the_image(estate: Estate) -> None:
    await ready(estate)
    estate.outside.world = None

    await perform(fetch(estate), estate.ports())

    assert any(line.endswith("/upload") for line in estate.trigger.log)
    assert not any("download-url" in line for line in estate.trigger.log)


async def test_a_host_that_does_not_get_through_is_sent_the_image(estate: Estate) -> None:
    await ready(estate)
    estate.world.faults.add(Fault(point=Point.DOWNLOAD, effect=Effect.FAIL, times=None))

    await perform(fetch(estate), estate.ports())

    assert any("download-url" in line for line in estate.trigger.log)
    assert any(line.endswith("/upload") for line in estate.trigger.log)


async def test_an_image_that_nobody_has_is_named_with_its_address(estate: Estate) -> None:
    await ready(estate)
    url = URL.format("1" * 64)

    with pytest.raises(Refused) as caught:
        await perform(fetch(estate, url=url), estate.ports())

    assert caught.value.problem.code == "image.missing"
    assert caught.value.problem.where == url


async def test_schematics_are_told_to_the_factory_once(estate: Estate) -> None:
    text = "customization:\n    extraKernelArgs:\n        - quiet\n"
    right = "ed1bb1ec4d4a6d9c8eb6c0c5a2ec1a3b"
    wrong = RegisterSchematic(schematic=right, text=text)  # type: ignore[arg-type]  # a wrong one

    with pytest.raises(Refused, match=r"image\.schematic-id") as caught:
        await wrong.run(estate.ports())
    known = caught.value.problem.why.partition("got ")[2].partition(":")[0]
    gate = SchematicRegistered(schematic=known)  # type: ignore[arg-type]  # its text

    assert (await gate.check(estate.ports())).answer is GateAnswer.GO
    assert not await wrong.done(estate.ports())


async def test_a_secret_that_was_lost_makes_a_new_token(estate: Estate) -> None:
    await estate.apply()
    place = "${PROXMOX_TOKEN_SECRET}"
    before = estate.secrets.kept.pop(place)

    outcome = await estate.apply(options=ProxmoxOptions(unkept=frozenset({place})))

    assert "access/token/pve/stockman@pve!stockman" in [step.id for step in outcome.plan.steps]
    assert estate.secrets.kept[place] != before
    assert (await estate.plan()).changes == ()
