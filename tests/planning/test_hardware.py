"""Hardware of machines and containers: made, changed while it runs, or with a restart."""

from collections.abc import Callable

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.pve.host_power import give_power, lose_power
from stockman_lab.servers.port import WorldClock
from stockman_lab.world.preset import pci_device, usb_device
from stockman_lab.world.world import World

from stockman.model.errors import Refused, StockmanError
from stockman.steps.base import GateAnswer
from stockman.steps.vm.configure import ConfigureVm
from stockman.steps.vm.disks import AttachDisk, DetachDisk, GrowDisk
from stockman.steps.vm.placement import AddToPool, CreatePool
from stockman.steps.vm.power import RestartVm
from tests.planning.containers import CONTAINER, upload_system
from tests.planning.estate import FINGERPRINT, Estate, died_at_every_call, perform

NIOBE = r"vm: \{vmid: 1032, host: niobe\}"
PRINTER = (
    f"stockman: k8s/printer id={FINGERPRINT} guest=pve/300/edbf18fe-7b8e-5754-a48b-c9b6e75bbb8b"
)


def given(estate: Estate, more: str) -> None:
    """Give one machine further keys."""
    estate.edit("nodes.yaml", NIOBE, f"vm: {{vmid: 1032, host: niobe, {more}}}")


def status(estate: Estate, vmid: int) -> str:
    return next(iter(estate.world.clusters.values())).state.guests[vmid].status


async def test_firmware_and_a_trust_module_are_made_with_their_machine(estate: Estate) -> None:
    given(estate, "bios: ovmf, machine: q35, tpm: {version: v2.0}")

    await estate.apply()

    config = estate.config(1032)
    assert config["bios"] == "ovmf"
    assert "efitype=4m" in config["efidisk0"]
    assert "version=v2.0" in config["tpmstate0"]
    assert (await estate.plan()).changes == ()


async def test_firmware_disks_can_be_in_another_storage(estate: Estate) -> None:
    estate.pve.post("/storage", storage="fast", type="dir", path="/fast", content="images")
    estate.edit("cluster.yaml", r"storages: \[ceph-vm-disks", "storages: [fast, ceph-vm-disks")
    given(estate, "bios: ovmf, machine: q35, efi_disk: {datastore: fast}, tpm: {datastore: fast}")

    await estate.apply()

    assert estate.config(1032)["efidisk0"].startswith("fast:")
    assert estate.config(1032)["tpmstate0"].startswith("fast:")
    assert (await estate.plan()).changes == ()


Judge = Callable[[dict[str, str]], bool]
LIVE: dict[str, tuple[str, Judge]] = {
    "tags": ("tags: [gpu]", lambda config: "gpu" in config["tags"]),
    "onboot": ("onboot: false", lambda config: config["onboot"] == "0"),
    "description": ("description: mine", lambda config: "mine" in config["description"]),
    "start order": (
        "start_order: {order: 3, down_delay: 60}",
        lambda config: "order=3" in config["startup"],
    ),
    "protection": ("protection: true", lambda config: config["protection"] == "1"),
    "another VLAN": (
        "nics: [{bridge: vmbr0, vlan_id: 9}]",
        lambda config: "tag=9" in config["net0"],
    ),
    "a further card": (
        "nics: [{bridge: vmbr0, vlan_id: 3}, {bridge: vmbr0}]",
        lambda config: "net1" in config,
    ),
}
COLD: dict[str, tuple[str, Judge]] = {
    "cores": ("cores: 6", lambda config: config["cores"] == "6"),
    "sockets": ("sockets: 2", lambda config: config["sockets"] == "2"),
    "memory": ("memory: 8192", lambda config: config["memory"] == "8192"),
    "processor": ("cpu_type: x86-64-v3", lambda config: config["cpu"] == "x86-64-v3"),
    "display": ("vga: serial0", lambda config: config["vga"] == "serial0"),
    "NUMA": ("numa: true", lambda config: config["numa"] == "1"),
    "agent": ("agent: true", lambda config: config["agent"] == "1"),
}


@pytest.mark.parametrize("kind", LIVE)
async def test_what_changes_while_a_machine_runs_is_changed_without_a_restart(
    estate: Estate, kind: str
) -> None:
    await estate.apply()
    more, is_so = LIVE[kind]
    given(estate, more)

    outcome = await estate.apply()

    assert {type(step.action) for step in outcome.plan.steps if step.node} == {ConfigureVm}
    interrupted = "interrupts the network of the node" in outcome.changes[-1].what
    assert interrupted is (kind == "another VLAN")
    assert is_so(dict(estate.config(1032)))
    assert (await estate.plan()).changes == ()


@pytest.mark.parametrize("what", COLD)
async def test_what_a_running_machine_cannot_change_waits_for_a_restart_that_the_plan_names(
    estate: Estate, what: str
) -> None:
    await estate.apply()
    more, is_so = COLD[what]
    given(estate, more)

    outcome = await estate.apply()

    kinds = [type(step.action) for step in outcome.plan.steps]
    assert kinds == [ConfigureVm, RestartVm]
    assert "needs a restart for" in outcome.changes[0].what
    assert is_so(dict(estate.config(1032)))
    assert status(estate, 1032) == "running"
    assert (await estate.plan()).changes == ()


PENDING = {
    "memory": ("memory", "32768"),
    "cores": ("cores", "16"),
    "a device that was not there": ("serial1", "socket"),
    "a device that was there": ("serial0", ""),
}


@pytest.mark.parametrize("what", PENDING)
async def test_what_only_waits_to_become_something_else_is_taken_back_without_a_restart(
    estate: Estate, what: str
) -> None:
    await estate.apply()
    key, value = PENDING[what]
    change = {key: value} if value else {"delete": key}
    estate.pve.done(estate.pve.post("/nodes/niobe/qemu/1032/config", **change))
    guest = next(iter(estate.world.clusters.values())).state.guests[1032]
    before = guest.pid

    outcome = await estate.apply()

    assert [type(step.action) for step in outcome.plan.steps] == [ConfigureVm]
    (change_made,) = outcome.changes
    assert change_made.why.startswith(f"{key} is pending to become ")
    assert "restart" not in change_made.what
    assert (guest.pid, dict(guest.config.pending)) == (before, {})
    assert (await estate.plan()).changes == ()


async def test_what_waits_for_a_start_and_is_wanted_is_restarted_for(estate: Estate) -> None:
    await estate.apply()
    estate.pve.done(estate.pve.post("/nodes/niobe/qemu/1032/config", memory="8192"))
    given(estate, "memory: 8192")

    outcome = await estate.apply()

    assert [type(step.action) for step in outcome.plan.steps] == [RestartVm]
    assert outcome.changes[0].why == "memory was changed and needs a restart"
    assert (await estate.plan()).changes == ()


async def test_disks_come_grow_and_go_while_a_machine_runs(estate: Estate) -> None:
    await estate.apply()
    given(estate, "data_disks: [{name: data, size_gb: 50}, {name: logs, size_gb: 10}]")
    attached = await estate.apply()
    estate.edit("nodes.yaml", r"\{name: data, size_gb: 50\}", "{name: data, size_gb: 60}")
    grown = await estate.apply()
    estate.edit("nodes.yaml", r", \{name: logs, size_gb: 10\}", "")
    gone = await estate.apply()

    assert {type(step.action) for step in attached.plan.steps} == {AttachDisk}
    assert {type(step.action) for step in grown.plan.steps} == {GrowDisk}
    assert {type(step.action) for step in gone.plan.steps} == {DetachDisk}
    assert gone.plan.destroys == ()
    assert "size=60G" in estate.config(1032)["scsi1"]
    assert (await estate.plan()).changes == ()


async def test_pools_are_made_and_machines_change_over(estate: Estate) -> None:
    given(estate, "pool: first")
    await estate.apply()
    estate.edit("nodes.yaml", "pool: first", "pool: second")

    outcome = await estate.apply()

    assert [type(step.action) for step in outcome.plan.steps if step.stage.value == "vms"] == [
        CreatePool,
        AddToPool,
    ]
    pools = next(iter(estate.world.clusters.values())).state.resource_pools
    assert sorted(pools) == ["first", "second"]
    assert (await estate.plan()).changes == ()


GPU = {"address": "0000:01:00", "id": "10de:2571", "iommu": True, "name": "gpu"}
STICK = {"id": "046d:c52b", "description": "a stick"}
DEVICES = """
hosts:
  niobe:
    passthrough:
      pci:
        - {name: gpu, address: "0000:01:00"}
      usb:
        - {name: stick, id: "046d:c52b"}
"""


ON_NEO = """\
  neo:
    passthrough:
      pci:
        - {name: gpu, address: "0000:01:00"}
      usb:
        - {name: stick, id: "046d:c52b"}
"""


async def test_devices_are_mapped_and_given_to_a_machine(estate: Estate) -> None:
    cluster = next(iter(estate.world.clusters.values()))
    cluster.state.hosts["niobe"].pci.append(pci_device(GPU, 21))
    cluster.state.hosts["niobe"].usb.append(usb_device(STICK, 5))
    estate.texts["nodes.yaml"] += DEVICES
    given(estate, "machine: q35, pci: [{mapping: gpu}], usb: [{mapping: stick}]")

    first = await estate.apply()
    second = await estate.plan()

    ids = [step.id for step in first.plan.steps]
    assert {"access/mapping/pve/pci/gpu", "access/mapping/pve/usb/stick"} <= set(ids)
    assert "mapping=gpu" in estate.config(1032)["hostpci0"]
    assert "mapping=stick" in estate.config(1032)["usb0"]
    assert second.changes == ()


async def to_be_carried(estate: Estate) -> None:
    """A machine with devices is to go to another host, which has such devices, too."""
    cluster = next(iter(estate.world.clusters.values()))
    for host in ("niobe", "neo"):
        cluster.state.hosts[host].pci.append(pci_device(GPU, 21))
        cluster.state.hosts[host].usb.append(usb_device(STICK, 5))
    estate.texts["nodes.yaml"] += f"{DEVICES}{ON_NEO}"
    given(estate, "machine: q35, pci: [{mapping: gpu}], usb: [{mapping: stick}]")
    await estate.apply()
    estate.edit("nodes.yaml", "vmid: 1032, host: niobe", "vmid: 1032, host: neo")


@pytest.mark.parametrize("died", ["switched off", "moved"])
async def test_a_machine_on_its_way_is_brought_to_its_end_by_whoever_goes_on(
    estate: Estate, died: str
) -> None:
    await to_be_carried(estate)
    (move,) = (await estate.plan()).plan.steps
    estate.pve.done(estate.pve.post("/nodes/niobe/qemu/1032/status/stop"))
    if died == "moved":
        estate.pve.done(estate.pve.post("/nodes/niobe/qemu/1032/migrate", target="neo"))

    await perform(move.action, estate.ports())

    guest = next(iter(estate.world.clusters.values())).state.guests[1032]
    assert (guest.node, guest.status) == ("neo", "running")


async def test_a_machine_with_a_device_is_switched_off_on_its_way_to_another_host(
    estate: Estate,
) -> None:
    await to_be_carried(estate)
    cluster = next(iter(estate.world.clusters.values()))
    before = cluster.state.guests[1032].started_at

    outcome = await estate.apply()

    (move,) = outcome.plan.steps
    assert move.id == "vms/carry/talos-niobe"
    assert move.reason.endswith("hostpci0, usb0 cannot move while it runs")
    guest = cluster.state.guests[1032]
    assert (guest.node, guest.status) == ("neo", "running")
    assert guest.started_at > before
    assert (await estate.plan()).changes == ()


async def test_a_device_that_is_taken_away_needs_a_restart(estate: Estate) -> None:
    cluster = next(iter(estate.world.clusters.values()))
    cluster.state.hosts["niobe"].pci.append(pci_device(GPU, 21))
    cluster.state.hosts["niobe"].usb.append(usb_device(STICK, 5))
    estate.texts["nodes.yaml"] += DEVICES
    given(estate, "machine: q35, pci: [{mapping: gpu}]")
    await estate.apply()
    estate.edit("nodes.yaml", r", pci: \[\{mapping: gpu\}\]", "")

    outcome = await estate.apply()

    assert [type(step.action) for step in outcome.plan.steps][:2] == [ConfigureVm, RestartVm]
    assert "hostpci0" not in estate.config(1032)


GUEST = """
guests:
  - name: printer
    vmid: 300
    host: neo
    vm:
      memory: 2048
      datastore: ceph-vm-disks
      nics: [{bridge: vmbr0}]
"""


async def test_a_guest_that_somebody_switched_off_stays_off_when_it_changes(
    estate: Estate,
) -> None:
    estate.texts["nodes.yaml"] += GUEST
    await estate.apply()
    estate.pve.done(estate.pve.post("/nodes/neo/qemu/300/status/stop"))
    estate.world.advance(60)
    estate.edit("nodes.yaml", "memory: 2048", "memory: 3072")

    outcome = await estate.apply()

    assert [type(step.action) for step in outcome.plan.steps] == [ConfigureVm]
    assert status(estate, 300) == "stopped"
    assert (await estate.plan()).changes == ()


async def test_a_guest_whose_run_ended_before_it_was_started_is_started_by_the_next(
    estate: Estate,
) -> None:
    await estate.apply()
    estate.texts["nodes.yaml"] += GUEST
    for step in (await estate.plan()).plan.steps[:-1]:
        await perform(step.action, estate.ports())

    await estate.apply()

    assert status(estate, 300) == "running"
    assert estate.config(300)["description"] == PRINTER
    assert (await estate.plan()).changes == ()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_guest_is_started_and_called_so_wherever_the_run_is_killed(
    estate: Estate, *, after: bool
) -> None:
    await estate.apply()
    estate.texts["nodes.yaml"] += GUEST
    *made, start = (await estate.plan()).plan.steps
    for step in made:
        await perform(step.action, estate.ports())

    deaths = await died_at_every_call(estate, [start], after=after)

    assert deaths > 6
    assert status(estate, 300) == "running"
    assert estate.config(300)["description"] == PRINTER
    assert (await estate.plan()).changes == ()


async def test_a_guest_that_only_seems_to_be_started_is_still_new(estate: Estate) -> None:
    await estate.apply()
    estate.texts["nodes.yaml"] += GUEST
    *made, start = (await estate.plan()).plan.steps
    for step in made:
        await perform(step.action, estate.ports())
    claim = Fault(point=Point.TASK, effect=Effect.CLAIM, match={"type": "qmstart"})
    estate.world.faults.add(claim)

    await start.action.run(estate.ports())

    assert status(estate, 300) == "stopped"
    assert estate.config(300)["description"] == f"{PRINTER} new"
    await estate.apply()
    assert status(estate, 300) == "running"


@pytest.fixture
def contained(estate: Estate) -> Estate:
    """The same with a container beside the machines."""
    upload_system(estate)
    estate.texts["nodes.yaml"] += f"\nguests:\n{CONTAINER}"
    return estate


async def test_a_container_that_runs_is_restarted_on_another_host(contained: Estate) -> None:
    await contained.apply()
    contained.edit("nodes.yaml", "vmid: 301\n    host: neo", "vmid: 301\n    host: niobe")

    outcome = await contained.apply()

    assert [step.id for step in outcome.plan.steps] == ["vms/move/dns"]
    guest = next(iter(contained.world.clusters.values())).state.guests[301]
    assert (guest.node, guest.status) == ("niobe", "running")


async def test_a_container_without_its_template_is_told_before_anything_is_made(
    contained: Estate,
) -> None:
    contained.edit("nodes.yaml", "vztmpl/debian-12.tar.gz", "vztmpl/debian-13.tar.gz")

    outcome = await contained.plan()

    (problem,) = outcome.problems.errors
    assert problem.code == "image.no-volume"
    assert problem.what == "dns needs a template that neo does not have"
    assert "pveam download cephfs debian-13.tar.gz" in problem.fix


async def test_a_container_whose_host_died_while_making_it_is_left_to_root(
    contained: Estate,
) -> None:
    fault = Fault(Point.TASK, Effect.KILL, {"type": "vzcreate", "vmid": "301"})
    contained.world.faults.add(fault)
    with pytest.raises(StockmanError):
        await contained.apply()
    cluster = next(iter(contained.world.clusters.values()))
    give_power(cluster, cluster.state.hosts["neo"])
    await contained.clock.sleep(600)
    step = (await contained.plan()).plan.step("vms/create/dns")
    gate = next(gate for gate in step.gates if gate.kind == "proxmox.vmid")

    verdict = await gate.check(contained.ports())
    del cluster.state.guests[301].config.values["lock"]
    with pytest.raises(Refused, match=r"vm\.leftovers"):
        await perform(step.action, contained.ports())
    contained.pve.done(
        contained.pve.delete("/nodes/neo/lxc/301", **{"destroy-unreferenced-disks": 1})
    )
    await contained.apply()

    assert verdict.answer is GateAnswer.STOP
    assert verdict.fix == (
        "run `pct unlock 301` and `pct destroy 301 --destroy-unreferenced-disks 1` as root on neo"
    )
    assert (await contained.plan()).changes == ()


class Doomed(WorldClock):
    """A clock of a world in which a host dies once a container is written down, and not whole."""

    def __init__(self, world: World, host: str, vmid: int) -> None:
        super().__init__(world)
        self._doomed = world
        self._host, self._vmid = host, vmid
        self.struck = False

    async def sleep(self, seconds: float) -> None:
        (cluster,) = self._doomed.clusters.values()
        for _ in range(max(int(seconds * 4), 1)):
            self._doomed.advance(min(seconds, 0.25))
            guest = cluster.state.guests.get(self._vmid)
            if not self.struck and guest is not None and "hostname" in guest.config.values:
                self.struck = True
                lose_power(cluster, cluster.state.hosts[self._host])


async def cut_off(contained: Estate) -> None:
    """Let the host of the container die while it sets it up, and come back."""
    contained.clock = doomed = Doomed(contained.world, "neo", 301)
    with pytest.raises(StockmanError):
        await contained.apply()
    assert doomed.struck
    contained.clock = WorldClock(contained.world)
    cluster = next(iter(contained.world.clusters.values()))
    give_power(cluster, cluster.state.hosts["neo"])
    await contained.clock.sleep(600)


def makings(estate: Estate) -> list[str]:
    """How the tasks ended that made the container."""
    cluster = next(iter(estate.world.clusters.values()))
    return [task.exit_status for task in cluster.state.tasks.values() if task.type == "vzcreate"]


async def test_a_container_that_its_host_did_not_live_to_set_up_is_made_anew(
    contained: Estate,
) -> None:
    await cut_off(contained)
    left = contained.config(301)
    assert ("lock" in left, left["hostname"], status(contained, 301)) == (False, "dns", "stopped")

    outcome = await contained.apply()

    (change,) = (change for change in outcome.changes if "container 301" in change.what)
    assert "is marked as unfinished: its creation was interrupted" in change.why
    assert makings(contained) == ["unexpected status", "OK"]
    assert (
        contained.config(301)["description"].strip()
        == f"stockman: k8s/dns id={FINGERPRINT} guest=pve/301"
    )
    assert (contained.config(301)["onboot"], status(contained, 301)) == ("1", "running")
    assert (await contained.plan()).changes == ()


async def test_a_container_that_is_whole_is_not_made_twice_by_whoever_dies_at_any_call(
    contained: Estate,
) -> None:
    steps = [step for step in (await contained.plan()).plan.steps if step.node != "dns"]
    for step in steps:
        await perform(step.action, contained.ports())
    rest = [step for step in (await contained.plan()).plan.steps if step.node == "dns"]

    deaths = await died_at_every_call(contained, rest, after=None)

    assert deaths > len(rest)
    assert makings(contained) == ["OK"]
    assert (
        contained.config(301)["description"].strip()
        == f"stockman: k8s/dns id={FINGERPRINT} guest=pve/301"
    )
    assert (await contained.plan()).changes == ()


async def test_a_container_that_was_cut_off_and_used_since_is_left_alone(
    contained: Estate,
) -> None:
    await cut_off(contained)
    contained.pve.done(contained.pve.post("/nodes/neo/lxc/301/status/start"))
    contained.pve.done(contained.pve.post("/nodes/neo/lxc/301/status/stop"))
    step = (await contained.plan()).plan.step("vms/create/dns")

    with pytest.raises(Refused, match=r"vm\.half-made"):
        await perform(step.action, contained.ports())

    assert makings(contained) == ["unexpected status"]


async def test_a_container_that_was_cut_off_and_runs_is_taken_as_it_is(
    contained: Estate,
) -> None:
    await cut_off(contained)
    contained.pve.done(contained.pve.post("/nodes/neo/lxc/301/status/start"))

    await contained.apply()

    assert makings(contained) == ["unexpected status"]
    assert (
        contained.config(301)["description"].strip()
        == f"stockman: k8s/dns id={FINGERPRINT} guest=pve/301"
    )
    assert (await contained.plan()).changes == ()


async def test_a_container_changes_while_it_runs(contained: Estate) -> None:
    await contained.apply()
    contained.edit(
        "nodes.yaml", "      template:", "      cores: 4\n      swap: 0\n      template:"
    )

    outcome = await contained.apply()

    assert {type(step.action) for step in outcome.plan.steps} == {ConfigureVm}
    assert (contained.config(301)["cores"], contained.config(301)["swap"]) == ("4", "0")
    assert (await contained.plan()).changes == ()


async def test_the_disk_of_a_container_grows(contained: Estate) -> None:
    await contained.apply()
    contained.edit("nodes.yaml", "      template:", "      disk_gb: 12\n      template:")

    outcome = await contained.apply()

    assert {type(step.action) for step in outcome.plan.steps} == {GrowDisk}
    assert "size=12G" in contained.config(301)["rootfs"]


async def test_what_a_running_container_cannot_change_waits_for_a_restart(
    contained: Estate,
) -> None:
    await contained.apply()
    contained.edit("nodes.yaml", "      template:", "      nesting: true\n      template:")

    outcome = await contained.apply()

    assert [type(step.action) for step in outcome.plan.steps] == [ConfigureVm, RestartVm]
    assert contained.config(301)["features"] == "nesting=1"
    assert (await contained.plan()).changes == ()


ROOT_ONLY = {
    "device": "devices: [/dev/dri/renderD128]",
    "directory of the host": "mounts: [{path: /media, source: /srv/media}]",
    "nesting without walls": "unprivileged: false\n      nesting: true",
}


@pytest.mark.parametrize("what", ROOT_ONLY)
async def test_what_only_root_may_give_a_container_is_refused_before_anything_is_made(
    contained: Estate, what: str
) -> None:
    contained.edit("nodes.yaml", "      template:", f"      {ROOT_ONLY[what]}\n      template:")

    outcome = await contained.plan()

    assert [problem.code for problem in outcome.problems if problem.is_error] == ["vm.root-only"]


async def test_what_root_gave_a_container_is_left_alone(contained: Estate) -> None:
    await contained.apply()
    contained.pve.put("/nodes/neo/lxc/301/config", dev0="/dev/dri/renderD128")
    contained.edit(
        "nodes.yaml", "      template:", "      devices: [/dev/dri/renderD128]\n      template:"
    )

    outcome = await contained.plan()

    assert (outcome.codes, outcome.changes) == ([], ())


async def test_a_container_with_a_volume_of_its_own_is_not_removed_with_it(
    contained: Estate,
) -> None:
    contained.edit(
        "nodes.yaml",
        "      template:",
        '      mounts: [{path: /data, source: "ceph-vm-disks:4"}]\n      template:',
    )
    await contained.apply()
    contained.texts["nodes.yaml"] = contained.texts["nodes.yaml"].partition("\nguests:")[0] + "\n"

    outcome = await contained.plan()

    assert [problem.code for problem in outcome.problems if problem.is_error] == ["vm.data-disk"]
