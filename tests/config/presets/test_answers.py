"""What a user decides about a preset, in its files."""

from ipaddress import IPv4Address, IPv4Network

import pytest

from stockman.config.language import Configuration
from stockman.config.load import load
from stockman.config.presets import PRESETS, UNPUBLISHED, Answers, default_answers, render_preset
from stockman.config.rules import check_rules
from stockman.model.errors import WrongUsage

CLUSTERS = [name for name in PRESETS if name != "home"]


def estate(name: str, answers: Answers, network: IPv4Network | None = None) -> Configuration:
    texts = render_preset(name, answers=answers, network=network)
    loaded = load({file: text.encode() for file, text in texts.items()})
    check_rules(loaded)
    assert [str(problem) for problem in loaded.problems] == []
    return loaded.configuration


@pytest.mark.parametrize("name", PRESETS)
def test_no_answers_change_nothing(name: str) -> None:
    assert render_preset(name, answers=Answers()) == render_preset(name)


@pytest.mark.parametrize("name", PRESETS)
def test_giving_the_default_answers_changes_nothing_but_kubernetes(name: str) -> None:
    answers = default_answers(name)

    before = render_preset(name)["cluster.yaml"].splitlines()
    after = render_preset(name, answers=answers)["cluster.yaml"].splitlines()

    changed = [line for line in after if line not in before]
    assert all(line.startswith("kubernetes_version:") for line in changed)


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_answer_has_its_place(name: str) -> None:
    texts = estate(
        name,
        Answers(
            cluster_name="lab",
            repository="ssh://git@github.com/owner/lab.git",
            domain="example.org",
            proxmox_endpoint="https://127.0.0.9:8006",
            talos_version="v1.12.3",
        ),
        IPv4Network("127.66.0.0/16"),
    )

    assert texts.cluster.name == "lab"
    assert texts.repository.url == "ssh://git@github.com/owner/lab.git"
    assert texts.domain.name == "example.org"
    assert texts.dns.provider == "cloudflare"
    assert texts.proxmox is not None
    assert texts.proxmox.endpoint == "https://127.0.0.9:8006"
    assert texts.talos.version is not None
    assert texts.talos.version.bare == "1.12.3"


def test_a_talos_version_brings_its_contract_and_its_kubernetes() -> None:
    texts = estate("fifteen-node", Answers(talos_version="1.13.0"))

    assert texts.talos.contract is not None
    assert texts.talos.contract.bare == "1.13"
    assert texts.kubernetes.version is not None
    assert texts.kubernetes.version.line == (1, 36)


@pytest.mark.parametrize("name", CLUSTERS)
def test_a_domain_opens_the_cluster_with_a_gateway_that_is_free(name: str) -> None:
    network = IPv4Network("127.66.0.0/24")
    texts = estate(name, Answers(domain="example.org"), network)

    assert texts.gateways.external is not None
    assert texts.gateways.external in network
    assert texts.dns.token is not None
    assert texts.dns.token.reference == "${CLOUDFLARE_TOKEN}"
    assert texts.gateways.external not in [IPv4Address(str(node.address)) for node in texts.nodes]


@pytest.mark.parametrize("name", CLUSTERS)
def test_every_cluster_says_in_the_same_words_that_it_is_closed(name: str) -> None:
    text = render_preset(name)["cluster.yaml"]

    assert text.count(UNPUBLISHED) == 1


def test_a_name_that_yaml_would_take_for_something_else_is_quoted() -> None:
    text = render_preset("single", answers=Answers(cluster_name="on"))["cluster.yaml"]

    assert 'cluster_name: "on"\n' in text


def test_comments_stay_where_they_are() -> None:
    before = render_preset("single")["cluster.yaml"].splitlines()
    after = render_preset("single", answers=Answers(cluster_name="x"))["cluster.yaml"].splitlines()

    assert [line for line in before if line.startswith("#")] == [
        line for line in after if line.startswith("#")
    ]


def test_the_default_endpoint_moves_with_the_network_and_the_users_does_not() -> None:
    network = IPv4Network("127.66.0.0/16")

    assert default_answers("single", network).proxmox_endpoint == "https://127.66.0.4:8006"
    text = render_preset(
        "single", network=network, answers=Answers(proxmox_endpoint="https://192.168.20.5:8006")
    )["cluster.yaml"]
    assert "https://192.168.20.5:8006" in text


def test_a_preset_without_a_cluster_has_no_such_answers() -> None:
    answers = default_answers("home")

    assert (answers.repository, answers.domain, answers.talos_version) == (None, None, None)


@pytest.mark.parametrize("name", CLUSTERS)
def test_nodes_run_where_the_answers_say(name: str) -> None:
    known = default_answers(name)
    assert known.hosts is not None
    hosts = [f"rack-{number}" for number, _ in enumerate(known.hosts.split(","))]

    configuration = estate(
        name,
        Answers(hosts=", ".join(hosts), storage="pool-1", bridge="vmbr7", vlan="44"),
        IPv4Network("127.66.0.0/16"),
    )

    vms = [node.vm for node in configuration.nodes if node.vm is not None]
    cards = [vm.nics[0] if vm.nics else vm for vm in vms]
    assert {vm.host for vm in vms} == set(hosts)
    assert {vm.datastore for vm in vms} == {"pool-1"}
    assert {(card.bridge, card.vlan_id) for card in cards} == {("vmbr7", 44)}


@pytest.mark.parametrize("name", CLUSTERS)
def test_nodes_may_be_untagged(name: str) -> None:
    configuration = estate(name, Answers(vlan="none"), IPv4Network("127.66.0.0/16"))

    vms = [node.vm for node in configuration.nodes if node.vm is not None]
    assert {(vm.nics[0] if vm.nics else vm).vlan_id for vm in vms} == {None}


def test_a_gateway_is_not_moved_with_the_network() -> None:
    configuration = estate("single", Answers(gateway="127.66.0.99"), IPv4Network("127.66.0.0/24"))

    assert str(configuration.network.default_gateway) == "127.66.0.99"


def test_each_host_of_a_preset_needs_a_name() -> None:
    with pytest.raises(WrongUsage):
        render_preset("three-node", answers=Answers(hosts="one,two"))
