"""Every effect at every point of machines, and of what they get their images from, tried once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from google.protobuf.message import DecodeError
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.http.faulty import DelayedOutcome
from stockman_lab.http.messages import Cut, Hang, Response
from stockman_lab.images.container import digest_of
from stockman_lab.registry.registry import Ask
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.talos.api.call import Cut as CallCut
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.machine import Machine
from stockman_lab.talos.state import Stage
from stockman_lab.world.world import World

from lab.tests.factory.asking import Factory
from lab.tests.kube.nodes.running import up
from lab.tests.registry.asking import INSTALLER, Store
from lab.tests.talos.asking import Asking
from lab.tests.talos.staged import machine, staged
from stockman.talos.schematic import ImageSchematic, canonical_text, schematic_id

BLOB = b"content of a chart"
SECONDS = 50.0
FOR_GOOD = None


def let(world: World, point: Point, effect: Effect, times: int | None = 1, **match: str) -> Fault:
    """Let something go wrong from now on, with those noticing who would."""
    fault = world.faults.add(Fault(point, effect, match, seconds=SECONDS, times=times))
    world.strike()
    return fault


def switched_on(world: World, *, keeps_seed: bool = True) -> Machine:
    """The only machine of a world, after its power came."""
    (cluster,) = world.clusters
    client = MemoryClient(world, cluster)
    vmid, guest = next(iter(client.cluster.state.guests.items()))
    path = f"/nodes/{guest.node}/qemu/{vmid}"
    if not keeps_seed:
        client.put(f"{path}/config", delete="ide2")
    client.post(f"{path}/status/start")
    world.settle()
    return machine(world)


def _word(answer: DelayedOutcome, right: bytes = b"") -> str:
    outcome = answer.outcome
    if isinstance(outcome, Hang):
        return "hangs"
    if isinstance(outcome, Cut):
        return "nobody listens" if answer.is_refused else "cut"
    assert isinstance(outcome, Response)
    late = f" after {answer.seconds:.0f} s" if answer.seconds else ""
    other = " of something else" if right and outcome.body != right else ""
    return f"{outcome.status}{other if outcome.status == 200 else ''}{late}"


def registry(effect: Effect) -> list[object]:
    """A blob is pushed, and a manifest is read."""
    store = Store()
    name, _, tag = INSTALLER.removeprefix("factory.talos.dev/").partition(":")
    reading = Ask(path=f"/v2/{name}/manifests/{tag}")
    right = store.ask(reading.path.removeprefix("/v2/")).body
    store.let(effect, seconds=SECONDS, times=2)
    pushing = Ask(
        path="/v2/charts/a/blobs/uploads/",
        method="POST",
        query=f"digest={digest_of(BLOB)}",
        body=BLOB,
    )
    pushed = _word(store.registry.answer(pushing))
    kept = digest_of(BLOB) in store.state.blobs
    return [pushed, kept, _word(store.registry.answer(reading), right)]


def factory(effect: Effect) -> list[object]:
    """A schematic is posted, and an image is read."""
    factory = Factory()
    schematic = ImageSchematic(extensions=("siderolabs/iscsi-tools",))
    target = f"/image/{factory.knows(ImageSchematic())}/v1.13.9/nocloud-amd64.qcow2"
    right = factory.ask(target).body
    factory.let(effect, seconds=SECONDS, times=2)
    posted = _word(factory.told("/schematics", "POST", canonical_text(schematic).encode()))
    kept = schematic_id(schematic) in factory.state.schematics
    return [posted, kept, _word(factory.told(target), right)]


def talos_call(effect: Effect) -> list[object]:
    """Somebody writes to META, and asks twice for a name that changes in between."""
    world = staged()
    result = machine(world)
    disk = result.disk
    assert disk is not None
    let(world, Point.TALOS_CALL, effect, method="MetaWrite")
    before = world.now
    said = _said(world, result, effect)
    seconds = world.now - before
    lies = effect is Effect.LIE
    if lies:
        let(world, Point.TALOS_CALL, effect, FOR_GOOD, method="Hostname")
    names = [Asking(world, result).call("Hostname").hostname]
    result.state.network.hostname = "another"
    names.append(Asking(world, result).call("Hostname").hostname)
    return [said, disk.meta_value(12) == b"wool", seconds, names[0] == names[1]]


def _said(world: World, machine: Machine, effect: Effect) -> str:
    async def written() -> str:
        door = Asking(world, machine).door
        async with asyncio.timeout(0 if effect is Effect.HANG else None):
            reply = await door.call("machine.MachineService/MetaWrite", key=12, value=b"wool")
        return "well" if len(reply.messages) == 1 else "something else"

    try:
        return asyncio.run(written())
    except Refusal as refusal:
        return refusal.code.name
    except CallCut:
        return "cut"
    except TimeoutError:
        return "hangs"
    except DecodeError:
        return "unreadable"


def talos_step(effect: Effect) -> list[object]:
    """A phase, a service and the network, each of which something happens to."""
    seen: list[object] = []
    for step in ("ephemeral", "service/cri", "network"):
        world = staged()
        result = machine(world)
        let(world, Point.TALOS_STEP, effect, step=step)
        Asking(world, result).call("Reboot")
        world.settle()
        cri = result.service("cri")
        state = cri.state if cri is not None else ""
        seen.append([result.state.stage.value, state, result.address != ""])
    return seen


def network(effect: Effect) -> list[object]:
    world = staged("three-node")
    result = machine(world, "talos-neo")
    number = let(world, Point.NETWORK, effect, FOR_GOOD, machine="talos-neo").number
    seen = [_answers(world, result), _healthy(world)]
    world.take_back(number)
    return [*seen, _answers(world, result), _healthy(world)]


def lease(effect: Effect) -> list[object]:
    """What address a machine without a configuration has."""
    before = switched_on(staged(bootstrap=False), keeps_seed=False).address
    world = staged(bootstrap=False)
    let(world, Point.LEASE, effect, FOR_GOOD)
    result = switched_on(world, keeps_seed=False)
    waits = result.state.stage is Stage.MAINTENANCE
    return [waits, result.address == before, _is_ipv4(result.address)]


def etcd(effect: Effect) -> list[object]:
    """A member that is ill, one that wants to join, and one that wants to vote."""
    world = staged("three-node")
    fault = let(world, Point.ETCD, effect, FOR_GOOD, machine="talos-neo", action="run")
    seen: list[object] = [_healthy(world)]
    world.take_back(fault.number)
    for action in ("join", "promote"):
        world = staged("three-node")
        let(world, Point.ETCD, effect, action=action)
        ask = Asking(world, machine(world, "talos-neo"))
        ask.call("EtcdLeaveCluster")
        ask.call("Reboot")
        world.settle()
        listed = Asking(world, machine(world, "talos-trinity")).call("EtcdMemberList").members
        seen.append(sum(not one.is_learner for one in listed))
    return [*seen, _healthy(world)]


def clock(effect: Effect) -> list[object]:
    world = staged()
    let(world, Point.CLOCK, effect, FOR_GOOD)
    reply = Asking(world, machine(world)).call("time.TimeService/Time")
    return [reply.localtime.seconds - reply.remotetime.seconds]


def _answers(world: World, machine: Machine) -> bool:
    try:
        return bool(Asking(world, machine).call("Version").version.tag)
    except Refusal:
        return False


def _healthy(world: World) -> int:
    """How many members of etcd are well."""
    every = [machine.service("etcd") for machine in world.talos.machines]
    return sum(one is not None and one.is_healthy is True for one in every)


def _is_ipv4(address: str) -> bool:
    return "." in address


def pod(effect: Effect) -> list[object]:
    """What its container does and whether it is ready, soon after it began and later."""
    cluster = up("n1")
    cluster.hosts.by_name["n1"].faults["start" if effect is Effect.FAIL else "ready"] = effect
    cluster.pod()
    values: list[object] = []
    for seconds in (15.0, 60.0):
        cluster.advance(seconds)
        state = cluster.found()["status"]["containerStatuses"][0]
        values += [next(iter(state["state"])), state["ready"]]
    return values


_E = Effect
_BOOTS = ["running", "Running", True]
SEEN: list[tuple[Callable[[Effect], list[object]], Effect, list[object]]] = [
    (registry, _E.FAIL, ["503", False, "503"]),
    (registry, _E.DO_THEN_FAIL, ["503", True, "503"]),
    (registry, _E.CLAIM, ["201", False, "200"]),
    (registry, _E.DELAY, ["201 after 50 s", True, "200 after 50 s"]),
    (registry, _E.HANG, ["hangs", False, "hangs"]),
    (registry, _E.CUT, ["cut", False, "cut"]),
    (registry, _E.DO_THEN_CUT, ["cut", True, "cut"]),
    (registry, _E.LIE, ["201", True, "200 of something else"]),
    (registry, _E.CORRUPT, ["201", True, "200 of something else"]),
    (registry, _E.KILL, ["nobody listens", False, "nobody listens"]),
    (factory, _E.FAIL, ["503", False, "503"]),
    (factory, _E.DO_THEN_FAIL, ["503", True, "503"]),
    (factory, _E.CLAIM, ["201", False, "200"]),
    (factory, _E.DELAY, ["201 after 50 s", True, "200 after 50 s"]),
    (factory, _E.HANG, ["hangs", False, "hangs"]),
    (factory, _E.CUT, ["cut", False, "cut"]),
    (factory, _E.DO_THEN_CUT, ["cut", True, "cut"]),
    (factory, _E.LIE, ["201", True, "200 of something else"]),
    (factory, _E.CORRUPT, ["201", True, "200 of something else"]),
    (factory, _E.KILL, ["nobody listens", False, "nobody listens"]),
    (talos_call, _E.FAIL, ["UNAVAILABLE", False, 0, False]),
    (talos_call, _E.DO_THEN_FAIL, ["UNAVAILABLE", True, 0, False]),
    (talos_call, _E.CLAIM, ["well", False, 0, False]),
    (talos_call, _E.DELAY, ["well", True, 50, False]),
    (talos_call, _E.HANG, ["hangs", False, 0, False]),
    (talos_call, _E.CUT, ["cut", False, 0, False]),
    (talos_call, _E.DO_THEN_CUT, ["cut", True, 0, False]),
    (talos_call, _E.LIE, ["well", True, 0, True]),
    (talos_call, _E.CORRUPT, ["unreadable", True, 0, False]),
    (talos_step, _E.FAIL, [_BOOTS, ["booting", "Failed", True], ["booting", "", False]]),
    (talos_step, _E.DELAY, [_BOOTS, _BOOTS, _BOOTS]),
    (
        talos_step,
        _E.HANG,
        [["booting", "", True], ["booting", "Preparing", True], ["booting", "", False]],
    ),
    (network, _E.FAIL, [False, 2, True, 3]),
    (lease, _E.FAIL, [True, False, False]),
    (lease, _E.LIE, [True, False, True]),
    (etcd, _E.FAIL, [2, 3, 3, 3]),
    (etcd, _E.HANG, [2, 2, 2, 3]),
    (clock, _E.LIE, [50]),
    (pod, _E.FAIL, ["waiting", False, "waiting", False]),
    (pod, _E.DELAY, ["running", False, "running", True]),
    (pod, _E.HANG, ["running", False, "running", False]),
]
"""What is seen of each: functions are named after their points."""
