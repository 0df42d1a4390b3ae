"""First files for Proxmox hosts that are there: what they say, and that they can be applied."""

import asyncio
from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network

import pytest
from stockman_lab.servers.port import WorldClock, WorldWire

from stockman.app.init.directory import DraftFiles
from stockman.app.init.from_proxmox import (
    ProxmoxProposal,
    ProxmoxSource,
    describe_proposal,
    find_endpoints,
    propose_files_with_client,
)
from stockman.app.proxmox import login_from_prompt
from stockman.config.language import Dialect
from stockman.config.load import load
from stockman.config.presets import Answers, add_schema_hints
from stockman.config.rules import check_rules
from stockman.model.problem import Problem
from stockman.planning.starter.network import NetworkOptions
from stockman.planning.starter.observed import ApiConnection
from stockman.ports.environment import Certificate, Trust
from stockman.proxmox.client import ProxmoxClient
from stockman.proxmox.transport import Reply, Request
from tests.app.doctor.fakes import FINGERPRINT, LATER, TRUSTED, FakeNetwork
from tests.app.looks import ROOT, URL, door, errand, look, port, somebody, world
from tests.planning.estate import Estate

ESTATES = [
    (preset, count, pve)
    for preset, count in (("single", 1), ("three-node", 3), ("fifteen-node", 15))
    for pve in ("8.4", "9.1")
]
PINNED = ProxmoxSource(url=URL, asker=ROOT, trust=Trust(fingerprint=FINGERPRINT))


class WrittenDown:
    """A wire that remembers what was asked."""

    def __init__(self, inner: WorldWire) -> None:
        self._inner = inner
        self.methods: set[str] = set()
        self.calls = 0

    async def call(self, request: Request) -> Reply:
        self.methods.add(request.method)
        self.calls += 1
        return await self._inner.call(request)


def mistakes(files: DraftFiles, dialect: Dialect = "classic") -> list[Problem]:
    """Everything that validation says of files, warnings too."""
    texts = add_schema_hints(files.texts, dialect)
    loaded = load({name: text.encode() for name, text in texts.items()})
    check_rules(loaded)
    return list(loaded.problems)


def reached(network: FakeNetwork, proxmox_source: ProxmoxSource = PINNED) -> ApiConnection:
    pve = port(world())

    async def ask() -> ApiConnection:
        return await find_endpoints(proxmox_source, pve, await pve.cluster_state(), network)

    return asyncio.run(ask())


def hosts_of(proxmox_proposal: ProxmoxProposal) -> list[str]:
    return [str(machine.host) for machine in proxmox_proposal.draft.placing.machines]


@pytest.mark.parametrize("dialect", ["classic", "toml"])
@pytest.mark.parametrize(("preset", "count", "pve"), ESTATES)
def test_files_have_no_mistakes(preset: str, count: int, pve: str, dialect: Dialect) -> None:
    found = look(world(preset, pve))

    assert mistakes(found.files, dialect) == []
    assert (found.draft.shape.preset, found.draft.shape.count) == (preset, count)
    assert f'version: "{pve}"' in found.files.texts["cluster.yaml"]


@pytest.mark.parametrize(("preset", "count", "pve"), ESTATES)
def test_files_can_be_applied_to_the_hosts_that_were_looked_at(
    preset: str, count: int, pve: str
) -> None:
    estate = Estate(preset, pve)
    estate.texts = dict(look(estate.world).files.texts)

    asyncio.run(estate.apply())
    again = asyncio.run(estate.plan())

    assert len(estate.pve.cluster.state.guests) == count
    assert [change.what for change in again.changes] == []


def test_a_look_only_reads() -> None:
    made = world("fifteen-node")
    wire = WrittenDown(WorldWire(door(made)))
    pve = ProxmoxClient(wire, WorldClock(made))

    asyncio.run(propose_files_with_client(pve, errand(), ApiConnection(url=URL)))

    assert wire.methods == {"GET"}


def test_the_secret_of_who_looked_is_in_no_file() -> None:
    found = look(world())

    assert all("hunter2" not in text for text in found.files.texts.values())
    assert "proxmox_token_id: stockman@pve!stockman\n" in found.files.texts["cluster.yaml"]
    assert "proxmox_token_secret" not in found.files.texts["cluster.yaml"]


def test_a_token_that_stays_is_named() -> None:
    wanted = replace(errand(), asker=login_from_prompt("ops@pve!look", "hunter2"))

    found = look(world(), wanted)

    token = "proxmox_token_id: ops@pve!look\nproxmox_token_secret: ${PROXMOX_TOKEN_SECRET}\n"
    assert token in found.files.texts["cluster.yaml"]


def test_machines_are_spread_over_hosts_that_are_up() -> None:
    made = world("fifteen-node")
    door(made).cluster.state.hosts["thor"].has_power = False

    found = look(made)

    assert hosts_of(found) == ["baldar", "heimdall", "loki"]
    assert "#   host thor          left out: it is offline\n" in found.files.texts["cluster.yaml"]
    assert "left out is thor: it is offline" in list(describe_proposal(found))


def test_numbers_of_guests_that_are_there_are_left_alone() -> None:
    made = world("three-node")
    door(made).post("/nodes/neo/qemu", vmid=1001, name="billing", memory=2048)
    made.settle()
    made.advance(10)

    found = look(made)

    assert found.first_vmid == 1100
    assert (
        "neo: {cores: 32, memory: 131072, reserve_memory: 6144}"
        in (found.files.texts["cluster.yaml"])
    )


def test_numbers_of_guests_that_are_not_shown_are_left_alone_too() -> None:
    made = world("three-node")
    door(made).post("/nodes/neo/qemu", vmid=1001, name="billing")
    made.settle()
    ada = somebody(made, ("/", "Sys.Audit,Datastore.Audit,SDN.Audit"))

    found = look(made, caller=ada)

    assert found.draft.observed.guests == frozenset()
    assert found.first_vmid == 1100


def test_a_second_cluster_keeps_clear_of_the_first() -> None:
    estate = Estate("three-node")
    first = look(estate.world)
    estate.texts = dict(first.files.texts)
    asyncio.run(estate.apply())

    second = look(estate.world)

    assert (first.name, second.name) == ("k8s", "k8s-2")
    assert (first.first_vmid, second.first_vmid) == (1000, 1100)
    ours, theirs = first.draft.network, second.draft.network
    assert not {ours.api, *ours.nodes, ours.services, ours.names} & {theirs.api, *theirs.nodes}
    assert mistakes(second.files) == []


def test_a_name_that_another_cluster_has_is_told() -> None:
    estate = Estate("three-node")
    estate.texts = dict(look(estate.world).files.texts)
    asyncio.run(estate.apply())

    found = look(estate.world, replace(errand(), answers=Answers(cluster_name="k8s")))

    assert any(
        "a cluster k8s has machines there already" in line for line in describe_proposal(found)
    )


def test_the_network_of_the_user_goes_before_that_of_the_hosts() -> None:
    network_options = NetworkOptions(
        network=IPv4Network("127.70.0.0/24"), gateway=IPv4Address("127.70.0.9")
    )

    found = look(world(), errand(network=network_options))

    cluster = found.files.texts["cluster.yaml"]
    assert "node_cidr: 127.70.0.0/24\nnode_default_gateway: 127.70.0.9\n" in cluster
    assert "#   gateway 127.70.0.9      selected with --gateway\n" in cluster


def test_machines_are_in_the_vlan_that_the_hosts_are_in() -> None:
    made = world()
    for host in door(made).cluster.state.hosts.values():
        plain = host.interfaces["vmbr0"]
        moved = {name: plain.pop(name) for name in ("cidr", "gateway")}
        host.interfaces["vmbr0.3"] = {
            **moved,
            "type": "vlan",
            "method": "static",
            "autostart": "1",
            "active": "1",
            "vlan-raw-device": "vmbr0",
        }

    found = look(made)

    assert "      bridge: vmbr0\n      vlan_id: 3\n" in found.files.texts["nodes.yaml"]
    assert "node_default_gateway: 127.66.0.1\n" in found.files.texts["cluster.yaml"]
    assert mistakes(found.files) == []


def test_devices_and_mappings_are_told() -> None:
    made = world("fifteen-node")
    entry = "node=thor,path=0000:01:00.0,id=10de:2571,iommugroup=5"
    door(made).post("/cluster/mapping/pci", id="gpu", map=[entry])

    nodes = look(made).files.texts["nodes.yaml"]

    assert "#   thor PCI 0000:01:00.0      10de:2571, NVIDIA Corporation" in nodes
    assert "# Existing mappings:\n#   pci gpu: " in nodes


def test_answers_are_in_the_files() -> None:
    answers = Answers(
        cluster_name="meadow", repository="owner/meadow", talos_version="1.12.4", domain="test.dev"
    )

    found = look(world(), replace(errand(), answers=answers))

    assert 'talos_contract: "1.12"\n' in found.files.texts["cluster.yaml"]
    assert "cloudflare_domain: test.dev\n" in found.files.texts["cluster.yaml"]
    assert "  - name: meadow-1\n" in found.files.texts["nodes.yaml"]
    assert [problem for problem in mistakes(found.files) if problem.is_error] == []


def test_hosts_that_answer_with_a_certificate_of_the_authority_are_endpoints() -> None:
    network = FakeNetwork(certificates={"127.66.0.5:8006": TRUSTED})
    wanted = replace(PINNED, trust=Trust(ca=b"an authority\n"))

    api_connection = reached(network, wanted)

    assert api_connection.others == ("https://127.66.0.5:8006",)
    assert [address for address, _ in api_connection.silent] == ["https://127.66.0.6:8006"]
    assert api_connection.ca == "an authority\n"


def test_a_host_with_another_certificate_is_no_endpoint() -> None:
    strange = Certificate(fingerprint=FINGERPRINT, expires=LATER, flaw="it is another's")
    network = FakeNetwork(certificates={"127.66.0.5:8006": strange, "127.66.0.6:8006": TRUSTED})

    api_connection = reached(network)

    assert api_connection.others == ("https://127.66.0.6:8006",)
    assert ("https://127.66.0.5:8006", "it is another's") in api_connection.silent


def test_without_an_authority_that_fits_the_fingerprint_stays_pinned() -> None:
    network = FakeNetwork()

    api_connection = reached(network)

    assert (api_connection.ca, api_connection.fingerprint) == (None, FINGERPRINT)
    assert {trust.fingerprint for trust in network.trusts} == {FINGERPRINT}


def test_what_is_pinned_stands_in_the_files() -> None:
    pve = port(world())
    api_connection = ApiConnection(url=URL, fingerprint=FINGERPRINT, trust_why="Confirmed.")

    found = asyncio.run(propose_files_with_client(pve, errand(), api_connection))

    assert f'fingerprint: "{FINGERPRINT}"' in found.files.texts["cluster.yaml"]
    assert mistakes(found.files) == []
    assert found.files.extra_files == {}


def test_a_public_certificate_needs_no_key() -> None:
    api_connection = reached(FakeNetwork(), replace(PINNED, trust=Trust()))

    assert (api_connection.ca, api_connection.fingerprint) == (None, None)
