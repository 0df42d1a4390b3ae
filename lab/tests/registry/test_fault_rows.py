"""What goes wrong with images in upgrades can be brought about in the lab."""

from __future__ import annotations

import hashlib
import re

import pytest
from stockman_lab.core.faults import Effect, Fault, Point
from stockman_lab.factory.state import EMPTY_ID
from stockman_lab.http.messages import Request, Response
from stockman_lab.images.image import read_image
from stockman_lab.servers.images_handler import WorldImages, world_registry
from stockman_lab.servers.memory import MemoryClient

from lab.tests.machines import QEMU, create, ended, start
from lab.tests.outside import Shelf, world_with
from lab.tests.registry.asking import INSTALLER, Store
from lab.tests.worlds import NAME

FILE = f"/image/{EMPTY_ID}/v1.13.9/nocloud-amd64.qcow2"
URL = f"http://127.66.0.5:8080{FILE}"
DOWNLOAD = "/nodes/pve1/storage/local/download-url"


class FactoryShelf(Shelf):
    """What hosts fetch is what the factory of their own world serves."""

    def __init__(self) -> None:
        super().__init__({})

    def open(self) -> MemoryClient:
        self.world = world_with(self)
        self.images = WorldImages(self.world)
        return MemoryClient(self.world, NAME)

    def serve(self) -> bytes:
        """Ask the factory once more, and put on the shelf what it says now."""
        request = Request("GET", FILE, {"host": "127.66.0.5:8080"}, b"", "", False)
        outcome = self.images.answer(request).outcome
        assert isinstance(outcome, Response)
        self.contents[URL] = outcome.body
        return outcome.body


def let(api: MemoryClient, effect: Effect, **more: object) -> None:
    api.world.faults.add(Fault(Point.FACTORY, effect, **more))  # type: ignore[arg-type]


def wish(content: bytes, name: str = "talos.qcow2") -> dict[str, object]:
    return {
        "content": "import",
        "filename": name,
        "url": URL,
        "checksum__algorithm": "sha256",
        "checksum": hashlib.sha256(content).hexdigest(),
    }


def test_an_image_of_the_factory_is_downloaded_imported_and_booted() -> None:
    shelf = FactoryShelf()
    api = shelf.open()
    content = shelf.serve()
    assert ended(api, "POST", DOWNLOAD, **wish(content)) == "OK"
    disk = "local-zfs:0,import-from=local:import/talos.qcow2"
    create(api, 100, scsi0=disk, net0="virtio,bridge=vmbr0", memory="2048")
    start(api)
    assert api.get(f"{QEMU}/100/status/current")["status"] == "running"
    (volume,) = [one for key, one in api.cluster.state.volumes.items() if "vm-100-" in key]
    facts = read_image(api.world.state.blobs.get(volume.blob)).facts
    assert facts is not None
    assert (facts.platform, facts.version, facts.schematic) == ("nocloud", "v1.13.9", EMPTY_ID)


@pytest.mark.parametrize("damage", ["truncated", ""])
def test_an_image_is_damaged_and_a_checksum_tells(damage: str) -> None:
    shelf = FactoryShelf()
    api = shelf.open()
    right = shelf.serve()
    let(api, Effect.CORRUPT, message=damage)
    shelf.serve()
    assert "checksum mismatch" in ended(api, "POST", DOWNLOAD, **wish(right))
    shelf.serve()
    assert ended(api, "POST", DOWNLOAD, **wish(right)) == "OK"


def test_a_cached_old_version_is_served_under_the_new_name() -> None:
    shelf = FactoryShelf()
    api = shelf.open()
    right = shelf.serve()
    let(api, Effect.LIE, message="v1.12.0")
    old = read_image(shelf.serve()).facts
    assert old is not None
    assert old.version == "v1.12.0"
    assert "checksum mismatch" in ended(api, "POST", DOWNLOAD, **wish(right))


def test_a_registry_is_down_answers_429_and_recovers() -> None:
    store = Store()
    store.let(Effect.KILL, until=store.now + 60, times=None)
    store.let(Effect.FAIL, status=429, seconds=30, since=store.now + 61)
    assert "connection refused" in store.failed()
    assert "connection refused" in store.failed()
    store.now += 62
    assert "429 Too Many Requests" in store.failed()
    assert store.pulled().version == "v1.13.9"


def test_an_image_is_there_for_another_architecture_only() -> None:
    store = Store()
    store.let(Effect.CORRUPT, message="arch")
    assert store.failed() == "no match for platform in manifest: not found"
    assert store.pulled().architecture == "amd64"


def test_a_tag_moves_and_a_digest_does_not() -> None:
    store = Store()
    before = store.pulled()
    store.let(Effect.LIE, match={"reference": "v1.13.9"}, times=None)
    after = store.pulled()
    assert (after.version, after.digest != before.digest) == ("v1.13.9", True)
    assert store.pulled(f"{INSTALLER}@{before.digest}").digest == before.digest


def test_a_tag_moves_to_another_version() -> None:
    store = Store()
    store.let(Effect.LIE, message="v1.13.2")
    assert store.pulled().version == "v1.13.2"
    assert store.pulled().version == "v1.13.9"


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        ("", 'failed commit on ref "layer-sha256:.*": unexpected commit digest sha256:'),
        ("truncated", "short read: expected [0-9]+ bytes but got [0-9]+: unexpected EOF"),
    ],
)
def test_a_layer_is_damaged_on_the_way(damage: str, text: str) -> None:
    store = Store()
    store.let(Effect.CORRUPT, message=damage, match={"path": "*/blobs/*"}, skip=1)
    assert re.match(text, store.failed())
    assert store.pulled().version == "v1.13.9"


def test_a_registry_goes_down_for_those_who_have_not_pulled_yet() -> None:
    store = Store()
    assert store.pulled(client="work-1").version == "v1.13.9"
    store.let(Effect.KILL, match={"client": "work-*"}, times=None)
    assert "connection refused" in store.failed(client="work-2")
    assert store.pulled(client="cp-1").version == "v1.13.9"
    store.faults.remove(1)
    assert store.pulled(client="work-2").version == "v1.13.9"


def test_the_registry_of_a_world_serves_its_machines() -> None:
    api = FactoryShelf().open()
    registry = world_registry(api.world)
    store = Store(state=api.world.state.registry, factory=api.world.state.factory)
    store.registry = registry
    assert store.pulled().version == "v1.13.9"
