"""The door without a wire: time passes as far as an answer takes it, and no further."""

from collections.abc import Callable
from ipaddress import IPv4Network

from stockman_lab.images.fetching import Fetched, FetchFailed, QueryFailed
from stockman_lab.servers.memory import MemoryClient
from stockman_lab.world.file import read_world, world_file
from stockman_lab.world.preset import PresetOptions, preset_world
from stockman_lab.world.world import World


class QuickServer:
    """A web server that answers at once."""

    def fetch(
        self, url: str, path: str, *, verify: bool, done: Callable[[Fetched | FetchFailed], None]
    ) -> None:
        done(Fetched(b""))

    def metadata(
        self, url: str, *, verify: bool, done: Callable[[dict[str, object] | QueryFailed], None]
    ) -> None:
        done({"filename": "image.iso", "size": 1})


def test_who_asks_the_outside_does_not_let_everything_else_happen() -> None:
    made = preset_world(PresetOptions(preset="three-node", network=IPv4Network("127.66.0.0/16")))
    world = World(read_world(world_file(made.state)), QuickServer())
    client = MemoryClient(world, next(iter(world.clusters)))
    client.done(client.post("/nodes/neo/qemu", vmid=100, name="slow"))
    client.post("/nodes/neo/qemu/100/status/start")
    before = world.now

    client.get("/nodes/neo/query-url-metadata", url="https://127.0.0.1/image.iso")

    assert world.now - before < 0.5
