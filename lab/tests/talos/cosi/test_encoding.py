"""Contents go over the wire by the numbers of the machine's own minor."""

from __future__ import annotations

import pytest
from stockman_lab.talos.cosi.encoding import duration_text, proto_bytes, seconds_of

from lab.tests.talos.cosi.reading import contents


def test_numbers_of_vlans_had_four_bytes_at_first() -> None:
    spec = {"vlanID": 62, "vlanProtocol": "802.1q"}

    assert proto_bytes("network.VLANSpec", "1.11", spec).hex() == "0d3e00000010808202"
    assert proto_bytes("network.VLANSpec", "1.12", spec).hex() == "083e10808202"


@pytest.mark.parametrize(
    ("shape", "spec"),
    [
        ("network.AddressStatusSpec", {"address": "10.42.0.2/24", "local": "10.42.0.2"}),
        ("network.AddressStatusSpec", {"address": "fd00::2/64", "flags": "permanent"}),
        ("network.LinkStatusSpec", {"hardwareAddr": "52:54:00:00:00:01", "flags": "UP,RUNNING"}),
        ("network.HostDNSConfigSpec", {"listenAddresses": ["127.0.0.53:53"]}),
        ("files.EtcFileSpecSpec", {"contents": "nameserver\n"}),
        ("k8s.NodeStatusSpec", {"labels": {"a": "b"}, "podCIDRs": ["10.244.0.0/24"]}),
        ("k8s.KubeletSpecSpec", {"config": {"a": [1, "b", True, {"c": None}]}}),
        ("k8s.APIServerConfigSpec", {"extraArgs": {"v": {"values": ["2", "3"]}}}),
        ("secrets.EtcdRootSpec", {"etcdCA": {"crt": "QQ==", "key": "Qg=="}}),
        ("cri.RegistriesConfigSpec", {"tls": {"a": {"ca": "QUI="}}}),
    ],
)
def test_values_are_read_back(shape: str, spec: dict[str, object]) -> None:
    assert contents(shape, "1.13", proto_bytes(shape, "1.13", spec)) == spec


def test_no_network_has_no_length() -> None:
    raw = proto_bytes("network.RouteStatusSpec", "1.13", {"dst": ""})

    assert raw.hex() == "120b10ffffffffffffffffff01"


def test_a_url_is_whole_on_the_wire() -> None:
    spec = {"endpoint": {"scheme": "https", "host": "10.42.0.1:6443", "path": ""}}
    raw = proto_bytes("secrets.KubernetesRootSpec", "1.13", spec)

    assert contents("secrets.KubernetesRootSpec", "1.13", raw) == {
        "endpoint": "https://10.42.0.1:6443"
    }


@pytest.mark.parametrize(
    ("text", "seconds"), [("1m30s", 90.0), ("16ms", 0.016), ("2h0m0s", 7200.0), ("-5s", -5.0)]
)
def test_durations_are_read(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("seconds", "text"), [(40.0, "40s"), (90.0, "1m30s"), (7200.0, "2h0m0s"), (1.5, "1.5s")]
)
def test_durations_are_written(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
