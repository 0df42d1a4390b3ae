"""The control plane's programs, add-ons and manifests in the words of each contract."""

from __future__ import annotations

from typing import Any

import pytest

from tests.talos.machine.clusters import desired, documents, section

LINES = ["1.11", "1.12", "1.13", "1.14"]
KUBERNETES = """\
kubernetes:
  extra_args:
    api_server: {v: "1"}
    controller_manager: {v: "2"}
    scheduler: {v: "3"}
    etcd: {log-level: debug}
  extra_manifests: {gateway-api: "https://127.66.0.5/a.yaml"}
  inline_manifests: {one: {contents: "a: b"}, two: {file: two.yaml}}
"""
FILES = {"two.yaml": "c: d\n"}


def controller(line: str, cluster: str) -> Any:
    return documents(desired(line, cluster), "cp-1", FILES)


@pytest.mark.parametrize("line", LINES)
def test_arguments_reach_their_programs(line: str) -> None:
    config = controller(line, KUBERNETES)

    if line == "1.14":
        kinds = ("KubeAPIServerConfig", "KubeControllerManagerConfig", "KubeSchedulerConfig")
        programs = [config[kind] for kind in kinds]
    else:
        cluster = section(config, "v1alpha1", "cluster")
        programs = [cluster[name] for name in ("apiServer", "controllerManager", "scheduler")]
    assert [program["extraArgs"] for program in programs] == [{"v": "1"}, {"v": "2"}, {"v": "3"}]
    etcd = section(config, "v1alpha1", "cluster", "etcd")
    assert etcd["extraArgs"] == {"log-level": "debug"}


@pytest.mark.parametrize("line", LINES)
def test_manifests_are_applied_by_controllers(line: str) -> None:
    config = controller(line, KUBERNETES)

    if line == "1.14":
        assert (
            config["KubeExternalManifestConfig gateway-api"]["url"] == "https://127.66.0.5/a.yaml"
        )
        assert config["KubeInlineManifestConfig one"]["manifest"] == "a: b"
        assert config["KubeInlineManifestConfig two"]["manifest"] == "c: d\n"
    else:
        cluster = section(config, "v1alpha1", "cluster")
        assert cluster["extraManifests"] == ["https://127.66.0.5/a.yaml"]
        assert cluster["inlineManifests"] == [
            {"name": "one", "contents": "a: b"},
            {"name": "two", "contents": "c: d\n"},
        ]
    assert "127.66.0.5/a.yaml" not in repr(documents(desired(line, KUBERNETES), "work-1"))


def add_ons(line: str, cluster: str) -> tuple[bool, bool]:
    """Whether Talos installs CoreDNS and kube-proxy."""
    config = controller(line, cluster)
    if line == "1.14":
        return config["KubeCoreDNSConfig"]["enabled"], config["KubeProxyConfig"]["enabled"]
    section_ = section(config, "v1alpha1", "cluster")
    return (
        not section_.get("coreDNS", {}).get("disabled", False),
        not section_["proxy"].get("disabled", False),
    )


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize(
    ("components", "installed"),
    [
        ("", (False, False)),
        ("components: {coredns: {enabled: true}}\n", (False, False)),
        ("components: {coredns: {enabled: false}}\n", (True, False)),
        ("components: {cilium: {enabled: false}}\n", (False, True)),
        ("components: {cilium: {values: {kubeProxyReplacement: false}}}\n", (False, True)),
    ],
)
def test_talos_installs_what_no_component_does(
    line: str, components: str, installed: tuple[bool, bool]
) -> None:
    assert add_ons(line, components) == installed
