"""Whatever effect a point offers can be seen from outside."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from stockman_lab.core.faults import OFFERED, Effect, Fault, Point
from stockman_lab.http.messages import Response
from stockman_lab.images.facts import ImageFacts
from stockman_lab.images.image import Form
from stockman_lab.images.making import disk_image
from stockman_lab.pve.api.call import ApiReply, ApiRequest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.host import GIB
from stockman_lab.servers.memory import MemoryClient, NoAnswer

from lab.tests.kube import struck as kube_struck
from lab.tests.machines import QEMU, create, create_linux, ended, start
from lab.tests.objects.asking import Asker
from lab.tests.objects.signing import Ask
from lab.tests.outside import Shelf, world_with
from lab.tests.talos import struck
from lab.tests.worlds import NAME, door

URL = "http://127.0.0.1:9/talos.qcow2"
DOWNLOAD = "/nodes/pve1/storage/local/download-url"
AGENT = f"{QEMU}/100/agent"


def let(client: MemoryClient, point: Point, effect: Effect) -> None:
    seconds = 0 if effect is Effect.KILL else 50
    client.world.faults.add(Fault(point, effect, seconds=seconds))
    client.world.strike()


def outcome(work: Callable[[], object]) -> str:
    """How a request or a task went, in a word."""
    try:
        return str(work())
    except NoAnswer:
        return "no answer"
    except ApiError as error:
        return f"{error.status}"


def request(effect: Effect) -> list[object]:
    client = door()
    let(client, Point.REQUEST, effect)
    before = client.world.now
    said = outcome(lambda: client.post("/pools", poolid="wool"))
    made = "wool" in client.cluster.state.resource_pools
    return [said, made, client.world.now - before, client.host.has_power]


def late_answer(effect: Effect) -> list[object]:
    """A request that the lab itself answers some seconds later."""
    client = door()
    create_linux(client)
    start(client)
    client.cluster.state.guests[100].paused = True
    let(client, Point.REQUEST, effect)
    before = client.world.now
    said = outcome(lambda: client.post(f"{AGENT}/ping"))
    return [said, client.world.now - before]


def task(effect: Effect) -> list[object]:
    client = door()
    create_linux(client)
    let(client, Point.TASK, effect)
    before = client.world.now
    said = ended(client, "POST", f"{QEMU}/100/status/start")
    is_slow = client.world.now - before > 50
    return [said, client.cluster.state.guests[100].is_running, is_slow, client.host.has_power]


def allocate(effect: Effect) -> list[object]:
    client = door()
    let(client, Point.ALLOCATE, effect)
    said = ended(client, "POST", QEMU, vmid=100, scsi0="ceph:1")
    locked_until = max(client.cluster.state.storage_locks.values(), default=0.0)
    return [said, locked_until > client.world.now + 20]


def download(effect: Effect) -> list[object]:
    facts = ImageFacts(platform="nocloud", virtual_size=GIB)
    shelf = Shelf({URL: disk_image(facts, Form.QCOW2)})
    client = MemoryClient(world_with(shelf), NAME)
    ended(client, "POST", DOWNLOAD, content="import", filename="first.qcow2", url=URL)
    shelf.contents[URL] = newer = disk_image(
        ImageFacts(platform="metal", virtual_size=GIB), Form.QCOW2
    )
    let(client, Point.DOWNLOAD, effect)
    before = client.world.now
    said = ended(client, "POST", DOWNLOAD, content="import", filename="second.qcow2", url=URL)
    pve1_local_import_second_qcow2 = client.cluster.state.volumes.get(
        "pve1/local:import/second.qcow2"
    )
    content = (
        client.world.state.blobs.get(pve1_local_import_second_qcow2.blob)
        if pve1_local_import_second_qcow2 is not None
        else b""
    )
    return [
        said,
        pve1_local_import_second_qcow2 is not None,
        content == newer,
        client.world.now - before > 50,
    ]


def boot(effect: Effect) -> list[object]:
    client = door()
    create_linux(client)
    let(client, Point.BOOT, effect)
    upid = str(client.post(f"{QEMU}/100/status/start"))
    client.world.advance(40)
    exit_status = client.cluster.state.tasks[upid].exit_status
    first = outcome(lambda: client.post(f"{AGENT}/ping"))
    client.world.advance(60)
    return [exit_status.partition(":")[0], first, outcome(lambda: client.post(f"{AGENT}/ping"))]


def shutdown(effect: Effect) -> list[object]:
    client = door()
    create_linux(client)
    start(client)
    let(client, Point.SHUTDOWN, effect)
    before = client.world.now
    said = ended(client, "POST", f"{QEMU}/100/status/shutdown", timeout=120)
    return [said, client.cluster.state.guests[100].is_running, client.world.now - before > 50]


def agent(effect: Effect) -> list[object]:
    client = door()
    create_linux(client)
    start(client)
    let(client, Point.AGENT, effect)
    before = client.world.now
    said = outcome(lambda: client.post(f"{AGENT}/shutdown"))
    seconds = client.world.now - before
    client.world.advance(60)
    return [said, not client.cluster.state.guests[100].is_running, seconds]


def resources(effect: Effect) -> list[object]:
    client = door()
    let(client, Point.RESOURCES, effect)
    create(client, 100)
    rows = [client.get("/cluster/resources", type="vm")[0]]
    client.world.advance(60)
    rows.append(client.get("/cluster/resources", type="vm")[0])
    return [row["status"] for row in rows]


def authenticate(effect: Effect) -> list[object]:
    client = door()
    post = client.post("/access/users/root@pam/token/main", privsep=0)
    header = {"authorization": f"PVEAPIToken=root@pam!main={post['value']}"}
    let(client, Point.AUTHENTICATE, effect)
    reply = client.api.perform(client.host, ApiRequest("GET", "/version", headers=header))
    assert isinstance(reply, ApiReply)
    return [reply.status]


def host(effect: Effect) -> list[object]:
    client = door()
    let(client, Point.HOST, effect)
    client.world.settle()
    return [host.has_power for host in client.cluster.state.hosts.values()]


def objects(effect: Effect) -> list[object]:
    asker = Asker()
    asker.world.faults.add(Fault(Point.OBJECTS, effect, seconds=3600))
    result = asker.told(Ask("PUT", "/flock/a", {}, {}, b"wool"))
    said = str(result.outcome.status) if isinstance(result.outcome, Response) else "no answer"
    made = asker.state.buckets["flock"].objects.get("a")
    content = asker.world.state.blobs.get(made.blob) if made is not None else b""
    return [said, made is not None, content == b"wool", result.seconds, result.is_refused]


def quorum(effect: Effect) -> list[object]:
    client = door()
    let(client, Point.QUORUM, effect)
    return [
        outcome(lambda: client.post("/pools", poolid="wool")),
        outcome(lambda: client.get(QEMU)),
    ]


TIMEOUT = "command failed: got timeout"
FAILED = "download failed: exit code 4"
LOCK = "unable to create VM 100 - cfs-lock 'storage-ceph' error: got lock request timeout"
STRUCK = "unable to create VM 100 - unable to create image 'vm-100-disk-0' - got timeout"
ABORTED = "unable to create VM 100 - 'storage-ceph'-locked command timed out - aborting"
PONG = "{'result': {}}"
SEEN: list[tuple[Callable[[Effect], list[object]], Effect, list[object]]] = [
    (request, Effect.FAIL, ["596", False, 0, True]),
    (request, Effect.DO_THEN_FAIL, ["596", True, 0, True]),
    (request, Effect.CLAIM, ["None", False, 0, True]),
    (request, Effect.DELAY, ["None", True, 50, True]),
    (request, Effect.HANG, ["no answer", False, 0, True]),
    (request, Effect.CUT, ["no answer", False, 0, True]),
    (request, Effect.DO_THEN_CUT, ["no answer", True, 0, True]),
    (request, Effect.LIE, ["None", True, 0, True]),
    (request, Effect.CORRUPT, ["no answer", True, 0, True]),
    (request, Effect.KILL, ["no answer", False, 0, False]),
    (late_answer, Effect.DELAY, ["500", 53]),
    (late_answer, Effect.CORRUPT, ["no answer", 3]),
    (task, Effect.FAIL, [TIMEOUT, False, False, True]),
    (task, Effect.DO_THEN_FAIL, [TIMEOUT, True, False, True]),
    (task, Effect.CLAIM, ["OK", False, False, True]),
    (task, Effect.DELAY, ["OK", True, True, True]),
    (task, Effect.HANG, ["", False, False, True]),
    (task, Effect.KILL, ["unexpected status", False, False, False]),
    (allocate, Effect.FAIL, [LOCK, False]),
    (allocate, Effect.DO_THEN_FAIL, [STRUCK, False]),
    (allocate, Effect.DELAY, [LOCK, True]),
    (allocate, Effect.HANG, [ABORTED, True]),
    (download, Effect.FAIL, [FAILED, False, False, False]),
    (download, Effect.DO_THEN_FAIL, [FAILED, True, True, False]),
    (download, Effect.CLAIM, ["OK", False, False, False]),
    (download, Effect.DELAY, ["OK", True, True, True]),
    (download, Effect.HANG, ["", False, False, False]),
    (download, Effect.CUT, [FAILED, False, False, False]),
    (download, Effect.CORRUPT, ["OK", True, False, False]),
    (download, Effect.LIE, ["OK", True, False, False]),
    (boot, Effect.FAIL, ["start failed", "500", "500"]),
    (boot, Effect.DELAY, ["OK", "500", PONG]),
    (boot, Effect.HANG, ["OK", "500", "500"]),
    (shutdown, Effect.DELAY, ["OK", False, True]),
    (shutdown, Effect.HANG, ["VM quit/powerdown failed - got timeout", True, True]),
    (agent, Effect.FAIL, ["500", False, 3]),
    (agent, Effect.DO_THEN_FAIL, ["500", True, 3]),
    (agent, Effect.DELAY, ["{'result': {}}", True, 50]),
    (agent, Effect.HANG, ["500", False, 3]),
    (resources, Effect.LIE, ["unknown", "stopped"]),
    (authenticate, Effect.FAIL, [401]),
    (objects, Effect.FAIL, ["503", False, False, 0, False]),
    (objects, Effect.DO_THEN_FAIL, ["503", True, True, 0, False]),
    (objects, Effect.DELAY, ["200", True, True, 3600, False]),
    (objects, Effect.HANG, ["no answer", False, False, 0, False]),
    (objects, Effect.CUT, ["no answer", False, False, 0, False]),
    (objects, Effect.DO_THEN_CUT, ["no answer", True, True, 0, False]),
    (objects, Effect.LIE, ["403", False, False, 0, False]),
    (objects, Effect.CORRUPT, ["200", True, False, 0, False]),
    (objects, Effect.KILL, ["no answer", False, False, 0, True]),
    (host, Effect.KILL, [False, False, False]),
    (quorum, Effect.FAIL, ["500", "[]"]),
    *struck.SEEN,
    *kube_struck.SEEN,
]


@pytest.mark.parametrize(
    ("tried", "effect", "seen"), SEEN, ids=[f"{one.__name__}-{two.value}" for one, two, _ in SEEN]
)
def test_an_effect_is_seen(
    tried: Callable[[Effect], list[object]], effect: Effect, seen: list[object]
) -> None:
    assert tried(effect) == seen


def test_no_effect_that_is_offered_is_left_out() -> None:
    tried = {(one.__name__.replace("_", "-"), two) for one, two, _ in SEEN}
    over_a_wire = Point.SSH  # tried where the door is
    offered = {
        (point.value, effect)
        for point in Point
        for effect in OFFERED[point]
        if point is not over_a_wire
    }
    assert offered <= tried
