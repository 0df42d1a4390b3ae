"""What a configuration says to a machine."""

from __future__ import annotations

import base64

import pytest
from stockman_lab.talos.config.effective_record import Effective
from stockman_lab.talos.config.link_setting import (
    BondSetting,
    BridgeSetting,
    DhcpSetting,
    LinkSelector,
    LinkSetting,
    RouteSetting,
)
from stockman_lab.talos.config.node_setting import (
    InstallSetting,
    KernelModule,
    VolumeSetting,
)
from stockman_lab.talos.config.reading import effective


def read(text: str, minor: str = "1.14") -> Effective:
    return effective(text.encode(), minor)


def test_the_same_text_is_read_once() -> None:
    text = b"machine: {type: worker}"

    assert effective(text, "1.13") is effective(text, "1.13")


def test_a_text_that_is_no_yaml_says_nothing() -> None:
    assert read("machine: [") == Effective(
        kubelet=read("").kubelet, kubernetes=read("").kubernetes, etcd=read("").etcd
    )


def test_documents_alone_are_partial() -> None:
    result = read("apiVersion: v1alpha1\nkind: HostnameConfig\nhostname: shed\n")

    assert result.is_partial
    assert result.hostname == "shed"


@pytest.mark.parametrize(
    ("spelled", "meant", "controls"),
    [
        ("controlplane", "controlplane", True),
        ("init", "init", True),
        ("worker", "worker", False),
        ("join", "worker", False),
    ],
)
def test_types_have_older_spellings(spelled: str, meant: str, controls: bool) -> None:
    result = read(f"machine: {{type: {spelled}}}")

    assert (result.machine_type, result.is_controlplane) == (meant, controls)


def test_words_that_look_like_booleans_are_words() -> None:
    result = read("apiVersion: v1alpha1\nkind: HostnameConfig\nauto: off\nhostname: on\n")

    assert (result.hostname, result.auto_hostname) == ("on", "off")


@pytest.mark.parametrize(
    ("text", "auto"),
    [
        ("machine: {type: worker}", "addr"),
        ("machine: {type: worker, features: {stableHostname: true}}", "stable"),
        ("machine: {type: worker}\n---\nkind: HostnameConfig\nauto: stable", "stable"),
        ("machine: {type: worker}\n---\nkind: HostnameConfig\nauto: off", "off"),
        ("machine: {type: worker, network: {hostname: shed}}", "off"),
    ],
)
def test_how_a_machine_without_a_name_gets_one(text: str, auto: str) -> None:
    assert read(text).auto_hostname == auto


def test_interfaces_of_old_configurations() -> None:
    result = read(
        """\
machine:
  type: controlplane
  network:
    interfaces:
      - interface: eth0
        dhcp: true
        dhcpOptions: {routeMetric: 50, ipv6: true}
        mtu: 9000
        vip: {ip: 10.42.0.9}
        vlans:
          - {vlanId: 66, addresses: [10.42.6.5/24], dhcp: false}
      - deviceSelector: {hardwareAddr: 'BC:24:*', driver: virtio_net}
        addresses: [10.42.0.5/24]
        routes: [{network: 0.0.0.0/0, gateway: 10.42.0.1, metric: 7}]
      - interface: bond0
        bond: {mode: 802.3ad, deviceSelectors: [{permanentAddr: 'bc:24:11:00:00:01'}], miimon: 100}
      - interface: br0
        bridge: {interfaces: [eth4]}
      - {interface: eth9, ignore: true}
      - {interface: dummy0, dummy: true}
"""
    )

    assert result.default_dhcp
    assert result.links == (
        LinkSetting(
            name="eth0",
            mtu=9000,
            dhcp4=DhcpSetting(metric=50),
            dhcp6=DhcpSetting(metric=50),
            vips=("10.42.0.9",),
        ),
        LinkSetting(
            name="eth0.66", kind="vlan", parent="eth0", vlan=66, addresses=("10.42.6.5/24",)
        ),
        LinkSetting(
            selector=LinkSelector(mac="bc:24:*", driver="virtio_net"),
            addresses=("10.42.0.5/24",),
            routes=(RouteSetting(gateway="10.42.0.1", metric=7),),
        ),
        LinkSetting(
            name="bond0",
            kind="bond",
            bond=BondSetting(
                mode="802.3ad", selectors=(LinkSelector(permanent_mac="bc:24:11:00:00:01"),)
            ),
        ),
        LinkSetting(name="br0", kind="bridge", bridge=BridgeSetting(members=("eth4",))),
        LinkSetting(name="eth9", ignored=True),
        LinkSetting(name="dummy0", kind="dummy"),
    )


def test_links_of_documents_are_put_together_by_name() -> None:
    result = read(
        """\
kind: LinkConfig
name: net0
mtu: 1400
up: false
addresses: [{address: 10.42.0.5/24}]
routes: [{gateway: 10.42.0.1}, {destination: 10.43.0.0/16, gateway: 10.42.0.2, metric: 9}]
---
kind: DHCPv4Config
name: net0
routeMetric: 9
ignoreHostname: true
---
kind: Layer2VIPConfig
name: 10.42.0.9
link: net0
---
kind: DHCPv6Config
name: net7
---
kind: VLANConfig
name: net0.5
parent: net0
vlanID: 5
---
kind: LinkAliasConfig
name: net0
selector: {match: 'link.driver == "virtio_net"'}
"""
    )

    assert not result.default_dhcp
    assert result.aliases == {"net0": LinkSelector(expression='link.driver == "virtio_net"')}
    assert result.links == (
        LinkSetting(
            name="net0",
            mtu=1400,
            up=False,
            addresses=("10.42.0.5/24",),
            routes=(
                RouteSetting(gateway="10.42.0.1"),
                RouteSetting(destination="10.43.0.0/16", gateway="10.42.0.2", metric=9),
            ),
            dhcp4=DhcpSetting(metric=9),
            vips=("10.42.0.9",),
        ),
        LinkSetting(name="net0.5", kind="vlan", parent="net0", vlan=5),
        LinkSetting(name="net7", dhcp6=DhcpSetting()),
    )


def test_certificates_are_texts_in_every_style() -> None:
    pem = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n"
    held = base64.b64encode(pem.encode()).decode()
    old = read(f"machine: {{type: worker, ca: {{crt: {held}}}}}\ncluster: {{ca: {{crt: {held}}}}}")
    new = read(
        f"machine: {{type: worker, ca: {{crt: {held}}}}}\n---\nkind: KubeAPIServerCAConfig\n"
        "acceptedCAs:\n  - |\n    " + pem.replace("\n", "\n    ")
    )

    assert old.os_ca.crt == old.k8s_ca.crt == new.k8s_ca.crt == pem
    assert new.k8s_accepted_cas == ()


def test_an_unattended_installation_starts_again_if_it_has_an_image() -> None:
    text = "kind: UnattendedInstallConfig\nprovisioning: {diskSelector: {match: 'true'}}\n"
    with_image = read(text + "installer: {image: a/b:v1.14.1}\n").install

    assert with_image == InstallSetting(expression="true", image="a/b:v1.14.1", is_unattended=True)
    assert read(text).install == InstallSetting(expression="true", is_unattended=True)


def test_the_disk_of_old_configurations_is_an_expression_too() -> None:
    install = read("machine: {install: {disk: /dev/sda, extraKernelArgs: [quiet]}}").install

    assert install == InstallSetting(expression='disk.dev_path == "/dev/sda"')
    assert read("machine: {type: worker}").install is None


def test_roles_cannot_be_switched_off_since_1_12() -> None:
    text = "machine: {type: worker, features: {rbac: false}}"

    assert not read(text, "1.11").features.rbac
    assert read(text, "1.12").features.rbac


def test_images_that_nobody_names_are_those_of_the_release() -> None:
    result = read("machine: {type: controlplane}", "1.13")

    assert result.etcd.image == "registry.k8s.io/etcd:v3.6.12"
    assert result.kubelet.image == "ghcr.io/siderolabs/kubelet:v1.36.3"
    assert result.kubernetes.version == "v1.36.3"
    assert result.kubernetes.core_dns.image == "registry.k8s.io/coredns/coredns:v1.14.6"
    assert result.kubernetes.cni == "flannel"


def test_the_control_plane_is_marked_unless_pods_may_run_there() -> None:
    mark = "node-role.kubernetes.io/control-plane"
    closed = read("machine: {type: controlplane, nodeLabels: {a: b}}")
    opened = read("machine: {type: controlplane}\ncluster: {allowSchedulingOnControlPlanes: true}")

    assert closed.node_labels == {mark: "", "a": "b"}
    assert closed.node_taints == {mark: "NoSchedule"}
    assert opened.node_taints == {}
    assert opened.kubernetes.schedules_on_control_planes


def test_arguments_may_have_several_values() -> None:
    result = read("cluster: {apiServer: {extraArgs: {a: b, c: [d, e]}}}")

    assert result.kubernetes.api_server.arguments == {"a": ("b",), "c": ("d", "e")}


def test_kernel_modules_of_sections_and_documents() -> None:
    result = read(
        "machine: {type: worker, kernel: {modules: [{name: nbd}]}}\n---\n"
        "kind: KernelModuleConfig\nname: zfs\nparameters: [zfs_arc_max=1]\n"
    )

    assert result.kernel_modules == (KernelModule(name="nbd"), KernelModule(name="zfs"))


def test_volumes_of_every_kind() -> None:
    result = read(
        """\
machine:
  type: worker
  systemDiskEncryption: {state: {keys: [{slot: 1, tpm: {}}, {slot: 0, nodeID: {}}]}}
  disks: [{device: /dev/sdb, partitions: [{mountpoint: /var/mnt/x, size: 5GB}]}]
---
kind: VolumeConfig
name: EPHEMERAL
provisioning: {maxSize: 40GiB, grow: false, diskSelector: {match: system_disk}}
---
kind: UserVolumeConfig
name: data
provisioning: {minSize: 1GiB}
---
kind: SwapVolumeConfig
name: swap
"""
    )

    assert result.volumes == (
        VolumeSetting(name="STATE", encryption=("nodeID", "tpm")),
        VolumeSetting(name="EPHEMERAL", max_size="40GiB"),
        VolumeSetting(name="data", kind="user", min_size="1GiB", filesystem="xfs"),
        VolumeSetting(name="swap", kind="swap"),
        VolumeSetting(name="/var/mnt/x", kind="disk", max_size="5GB", filesystem="xfs"),
    )
    assert result.volume("data") == result.volumes[2]
    assert result.volume("nothing") is None
