"""Settings of machines in the words of each contract."""

from __future__ import annotations

import pytest

from stockman.talos.machine.storage import go_duration
from tests.talos.machine.clusters import bundle, desired, documents, section, worker

LINES = ["1.11", "1.12", "1.13", "1.14"]
SETTINGS = """\
talos:
  extensions: [siderolabs/nfsd]
  sysctls: {vm.nr_hugepages: "1024", a.b: "1"}
  sysfs: {c.d: "2"}
  udev_rules: [one]
  environment: {https_proxy: "http://127.66.0.7:3128"}
  host_entries: {127.66.0.8: [nas]}
  watchdog: {timeout: 90s}
  kernel_logs: {collector: "udp://127.66.0.9:514"}
  trusted_roots: {company: ca.pem}
"""
NODE = worker("talos: {sysctls: {vm.nr_hugepages: '2048'}, udev_rules: [two]}")
FILES = {"ca.pem": bundle().certs.etcd.crt}


@pytest.mark.parametrize("line", LINES)
def test_settings_of_a_node_add_to_those_of_the_cluster(line: str) -> None:
    config = documents(desired(line, SETTINGS, NODE), "work-1", FILES)

    if line == "1.14":
        sysctls = config["SysctlConfig"]["params"]
        rules = config["UdevRulesConfig"]["rules"]
        sysfs = config["SysfsConfig"]["params"]
    else:
        machine = section(config, "v1alpha1", "machine")
        sysctls, rules, sysfs = machine["sysctls"], machine["udev"]["rules"], machine["sysfs"]
    assert sysctls == {"vm.nr_hugepages": "2048", "a.b": "1"}
    assert rules == ["one", "two"]
    assert sysfs == {"c.d": "2"}


@pytest.mark.parametrize("line", LINES)
def test_the_environment_became_a_document(line: str) -> None:
    config = documents(desired(line, SETTINGS), "work-1", FILES)

    old = section(config, "v1alpha1", "machine").get("env")
    new = config.get("EnvironmentConfig", {}).get("variables")
    proxy = {"https_proxy": "http://127.66.0.7:3128"}
    assert (old, new) == ((proxy, None) if line in ("1.11", "1.12") else (None, proxy))


@pytest.mark.parametrize("line", LINES)
def test_names_of_hosts_became_documents(line: str) -> None:
    config = documents(desired(line, SETTINGS), "work-1", FILES)

    if line == "1.11":
        network = section(config, "v1alpha1", "machine", "network")
        assert network["extraHostEntries"] == [{"ip": "127.66.0.8", "aliases": ["nas"]}]
    else:
        assert config["StaticHostConfig 127.66.0.8"]["hostnames"] == ["nas"]


@pytest.mark.parametrize("line", LINES)
def test_watchdog_logs_and_roots_are_documents_in_every_contract(line: str) -> None:
    config = documents(desired(line, SETTINGS), "work-1", FILES)

    assert config["WatchdogTimerConfig"]["timeout"] == "1m30s"
    assert config["KmsgLogConfig collector"]["url"] == "udp://127.66.0.9:514"
    assert config["TrustedRootsConfig company"]["certificates"] == FILES["ca.pem"]


@pytest.mark.parametrize(
    ("written", "go"), [("90s", "1m30s"), ("10s", "10s"), ("1h", "1h0m0s"), ("61m5s", "1h1m5s")]
)
def test_time_spans_are_written_as_go_writes_them(written: str, go: str) -> None:
    assert go_duration(written) == go


KUBELET = """\
talos:
  extensions: [siderolabs/nfsd]
  kubelet:
    extra_args: {v: "4"}
    extra_config: {maxPods: 200}
    node_ip_subnets: [127.66.0.0/24, "!127.66.0.10/32"]
components: {talos-ccm: {enabled: true}}
kubernetes: {coredns_addr: 10.43.0.53}
"""


@pytest.mark.parametrize("line", LINES)
def test_settings_of_the_kubelet_stand_where_the_contract_has_them(line: str) -> None:
    config = documents(desired(line, KUBELET), "work-1")

    if line == "1.14":
        kubelet, key = config["KubeletConfig"], "config"
        node_ip = config["KubeNodeConfig"]["nodeIP"]
    else:
        kubelet, key = section(config, "v1alpha1", "machine", "kubelet"), "extraConfig"
        node_ip = kubelet["nodeIP"]
    assert kubelet["extraArgs"] == {"rotate-server-certificates": "true", "v": "4"}
    assert kubelet[key] == {"maxPods": 200}
    assert kubelet["clusterDNS"] == ["10.43.0.53"]
    assert node_ip == {"validSubnets": ["127.66.0.0/24", "!127.66.0.10/32"]}


@pytest.mark.parametrize("line", LINES[:-1])
def test_mounts_of_the_kubelet_have_whole_options(line: str) -> None:
    nodes = worker("talos: {kubelet: {extra_mounts: [{source: /var/lib/longhorn}]}}")

    config = documents(desired(line, nodes=nodes), "work-1")

    assert section(config, "v1alpha1", "machine", "kubelet", "extraMounts") == [
        {
            "destination": "/var/lib/longhorn",
            "type": "bind",
            "source": "/var/lib/longhorn",
            "options": ["bind", "rshared", "rw"],
        }
    ]


FEATURES = """\
talos:
  extensions: [siderolabs/nfsd]
  kubespan: true
  kube_prism: {port: 7446}
  host_dns: {forward_kube_dns: false, resolve_member_names: true}
"""


@pytest.mark.parametrize("line", LINES)
def test_features_stand_where_the_contract_has_them(line: str) -> None:
    config = documents(desired(line, FEATURES), "cp-1")

    dns = {"enabled": True, "forwardKubeDNSToHost": False, "resolveMemberNames": True}
    if line == "1.14":
        assert config["KubePrismConfig"]["port"] == 7446
        assert config["ResolverConfig"]["hostDNS"] == dns
    else:
        features = section(config, "v1alpha1", "machine", "features")
        assert features["kubePrism"] == {"enabled": True, "port": 7446}
        assert features["hostDNS"] == dns
    old = section(config, "v1alpha1", "machine").get("network", {}).get("kubespan")
    assert old == ({"enabled": True} if line in ("1.11", "1.12") else None)
    assert ("KubeSpanConfig" in config) is (line in ("1.13", "1.14"))


@pytest.mark.parametrize("line", LINES)
def test_without_discovery_nobody_is_asked(line: str) -> None:
    config = documents(
        desired(line, "talos: {extensions: [siderolabs/nfsd], discovery: false}\n"), "cp-1"
    )

    assert "DiscoveryServiceConfig default" not in config
    if line != "1.14":
        assert section(config, "v1alpha1", "cluster", "discovery", "enabled") is False


def test_without_kube_prism_contract_1_14_has_no_document_for_it() -> None:
    state = desired("1.14", "talos: {extensions: [a/b], kube_prism: {enabled: false}}\n")

    assert "KubePrismConfig" not in documents(state, "work-1")
