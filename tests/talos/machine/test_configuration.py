"""Machine configurations in the style of each contract."""

from __future__ import annotations

import pytest

from stockman.model.errors import Refused
from stockman.model.secret import Secret
from stockman.talos.machine.configuration import configuration_text, machine_documents
from tests.talos.machine.clusters import NODES, bundle, desired, documents, node_named, section

LINES = ["1.11", "1.12", "1.13", "1.14"]
OIDC = "kubernetes: {oidc: {issuer_url: 'https://127.66.0.6/realm', client_id: k8s}}\n"


@pytest.mark.parametrize("line", LINES)
def test_secrets_are_typed_wherever_they_stand(line: str) -> None:
    state = desired(line)
    secrets = bundle()
    confidential = {
        secrets.trustdinfo.token.reveal(),
        secrets.secrets.bootstraptoken.reveal(),
        secrets.cluster.secret.reveal(),
        secrets.certs.os.key.reveal(),
        secrets.certs.k8s.key.reveal(),
    }

    for node in state.nodes:
        shown = repr(machine_documents(state, node, secrets))

        assert not [secret for secret in confidential if secret in shown]
        assert "grazing" not in shown


@pytest.mark.parametrize("line", LINES)
def test_a_worker_gets_no_authority_key(line: str) -> None:
    state = desired(line)

    text = configuration_text(
        machine_documents(state, node_named(state, "work-1"), bundle())
    ).reveal()

    for pair in (bundle().certs.os, bundle().certs.k8s, bundle().certs.etcd):
        assert pair.key.reveal().splitlines()[1] not in text


def test_contract_1_11_has_its_network_inside() -> None:
    config = documents(desired("1.11"), "cp-1")

    assert list(config) == ["v1alpha1"]
    network = section(config, "v1alpha1", "machine", "network")
    assert network["hostname"] == "cp-1"
    assert network["interfaces"] == [
        {
            "deviceSelector": {"hardwareAddr": "bc:24:11:00:00:21"},
            "mtu": 1500,
            "dhcp": False,
            "addresses": ["127.66.0.21/24"],
            "routes": [{"network": "0.0.0.0/0", "gateway": "127.66.0.1"}],
            "vip": {"ip": "127.66.0.10"},
        }
    ]


@pytest.mark.parametrize("line", LINES[1:])
def test_later_contracts_have_network_documents(line: str) -> None:
    config = documents(desired(line), "cp-1")

    assert config["HostnameConfig"]["hostname"] == "cp-1"
    assert config["LinkConfig net0"]["addresses"] == [{"address": "127.66.0.21/24"}]
    assert config["Layer2VIPConfig 127.66.0.10"]["link"] == "net0"
    assert "bc:24:11:00:00:21" in section(config, "LinkAliasConfig net0", "selector", "match")


def test_dhcp_keeps_the_link_and_drops_the_address() -> None:
    config = documents(desired("1.13", "network: {addressing: dhcp}\n"), "work-1")

    assert "DHCPv4Config net0" in config
    assert "addresses" not in config["LinkConfig net0"]
    assert not [name for name in config if name.startswith("Layer2VIP")]


def test_a_vlan_carries_address_and_virtual_address() -> None:
    config = documents(desired("1.13", "node_vlan_tag: 66\n"), "cp-1")

    vlan = config["VLANConfig net0.66"]
    assert (vlan["vlanID"], vlan["parent"]) == (66, "net0")
    assert config["Layer2VIPConfig 127.66.0.10"]["link"] == "net0.66"
    old = documents(desired("1.11", "node_vlan_tag: 66\n"), "cp-1")
    interface = section(old, "v1alpha1", "machine", "network", "interfaces", 0)
    assert interface["vlans"][0]["vip"] == {"ip": "127.66.0.10"}
    assert "addresses" not in interface


@pytest.mark.parametrize("line", LINES)
def test_links_without_an_address_are_up(line: str) -> None:
    config = documents(desired(line), "work-1")

    if line == "1.11":
        interfaces = section(config, "v1alpha1", "machine", "network", "interfaces")
        assert interfaces[1] == {"interface": "eth1", "dhcp": False, "mtu": 1400}
    else:
        assert config["LinkConfig eth1"]["up"] is True


@pytest.mark.parametrize("line", LINES)
def test_disk_modules_labels_and_taints_reach_the_machine(line: str) -> None:
    text = configuration_text(
        machine_documents(desired(line), node_named(desired(line), "work-1"), bundle())
    ).reveal()

    for state in ("SERIAL-1", "nbd", "example.com/rack", "example.com/slow", "example.com/note"):
        assert state in text
    assert text.count("luks2") == 2


@pytest.mark.parametrize("line", LINES)
def test_the_installer_is_that_of_the_platform(line: str) -> None:
    text = configuration_text(
        machine_documents(desired(line), node_named(desired(line), "cp-1"), bundle())
    ).reveal()

    assert "factory.talos.dev/nocloud-installer/" in text
    assert "ghcr.io/siderolabs/installer" not in text


def test_logins_of_an_identity_provider_have_two_forms() -> None:
    old = documents(desired("1.13", OIDC), "cp-1")
    new = documents(desired("1.14", OIDC), "cp-1")

    arguments = section(old, "v1alpha1", "cluster", "apiServer", "extraArgs")
    assert arguments["oidc-client-id"] == "k8s"
    (login,) = section(new, "KubeAuthenticationConfig", "configuration", "jwt")
    assert login["issuer"] == {"url": "https://127.66.0.6/realm", "audiences": ["k8s"]}


@pytest.mark.parametrize("line", LINES)
def test_talos_access_is_for_controllers_alone(line: str) -> None:
    state = desired(line, "components: {talos-backup: {enabled: true}}\n")

    controller = repr(documents(state, "cp-1"))
    worker = repr(documents(state, "work-1"))

    assert "os:etcd:backup" in controller
    assert "os:etcd:backup" not in worker


@pytest.mark.parametrize("line", LINES)
def test_talos_access_is_for_what_is_on_and_where_it_is(line: str) -> None:
    state = desired(
        line,
        "components:\n"
        "  talos-backup: {enabled: true, namespace: vault}\n"
        "  talos-ccm: {enabled: true}\n",
    )

    config = documents(state, "cp-1")
    path = ("v1alpha1", "machine", "features", "kubernetesTalosAPIAccess")
    access = config["KubeTalosAPIAccessConfig"] if line == "1.14" else section(config, *path)

    assert access["allowedRoles"] == ["os:etcd:backup", "os:reader"]
    assert access["allowedKubernetesNamespaces"] == ["kube-system", "vault"]


@pytest.mark.parametrize("line", LINES)
def test_without_workers_controllers_take_work(line: str) -> None:
    alone = desired(line, nodes=NODES.split("  - name: work-1")[0])

    config = documents(alone, "cp-1")

    if line == "1.14":
        assert "taints" not in config["KubeNodeConfig"]
    else:
        assert section(config, "v1alpha1", "cluster", "allowSchedulingOnControlPlanes") is True


def test_the_text_is_a_secret() -> None:
    state = desired("1.13")

    text = configuration_text(machine_documents(state, state.nodes[0], bundle()))

    assert isinstance(text, Secret)
    assert str(text) == "***"


def test_a_secret_that_is_only_named_is_never_written() -> None:
    mirror = "{endpoints: ['https://127.66.0.5'], username: u, password: '${MIRROR}'}"
    named = f"talos: {{extensions: [siderolabs/qemu-guest-agent], registries: {{a.b: {mirror}}}}}\n"
    state = desired("1.13", named)

    with pytest.raises(Refused, match=r"secret\.unresolved"):
        configuration_text(machine_documents(state, state.nodes[0], bundle()))
