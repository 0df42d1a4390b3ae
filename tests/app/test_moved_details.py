"""Values and patches of other tools' files, as those tools accept them."""

from __future__ import annotations

from pathlib import Path

import pytest

from stockman.app.rendering.validation import validate
from stockman.config.resolve import resolve
from tests.config.written import CLUSTER, NODES, codes, loaded

V1ALPHA1_LABEL = "machine: {nodeLabels: {LABEL: {$patch: delete}}}"
DOCUMENT_LABEL = "{apiVersion: v1alpha1, kind: KubeNodeConfig, labels: {LABEL: {$patch: delete}}}"
LABEL = "node.kubernetes.io/exclude-from-external-load-balancers"


def problems(directory: Path, more: str, talos: str = "1.13.9") -> list[str]:
    (directory / "cluster.yaml").write_text(f"{CLUSTER.replace('1.13.9', talos)}{more}")
    (directory / "nodes.yaml").write_text(NODES)
    return [f"{problem.code}: {problem.fix}" for problem in validate(directory).problems]


def patch(text: str, scope: str = "controller") -> str:
    return f"  patches:\n    {scope}:\n      - {text}\n"


@pytest.mark.parametrize(
    ("talos", "text"),
    [
        ("1.11.6", V1ALPHA1_LABEL),
        ("1.12.4", V1ALPHA1_LABEL),
        ("1.13.9", V1ALPHA1_LABEL),
        ("1.14.1", DOCUMENT_LABEL),
    ],
)
def test_a_patch_may_delete_a_generated_label(tmp_path: Path, talos: str, text: str) -> None:
    assert problems(tmp_path, patch(text.replace("LABEL", LABEL, 1)), talos) == []


@pytest.mark.parametrize("talos", ["1.14.0-alpha.2", "1.14.0-beta.1", "1.14.1"])
def test_documents_of_a_line_are_those_of_its_pre_releases(tmp_path: Path, talos: str) -> None:
    text = "{apiVersion: v1alpha1, kind: KubeProxyConfig, mode: nftables}"

    assert problems(tmp_path, patch(text), talos) == []


def test_a_path_without_a_mark_gets_the_mark(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, patch("talos/patch.yaml", "all"))

    assert problem.startswith("patch.form: write '@talos/patch.yaml'")


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("# see {{ .Node }}\nmachine: {sysctls: {a.b: '1'}} # ${name}\n", []),
        ("machine: {sysctls: {a.b: '{{ .Node }}'}} # {{ .Node }}\n", ["patch.template"]),
        ("machine:\n  files:\n    - content: |\n        # {{ .Node }}\n", ["patch.template"]),
    ],
)
def test_templates_in_comments_are_text(tmp_path: Path, text: str, reported: list[str]) -> None:
    (tmp_path / "patch.yaml").write_text(text)
    more = f"  patch_order: talhelper\n{patch(chr(39) + '@patch.yaml' + chr(39), 'all')}"

    assert [problem.partition(":")[0] for problem in problems(tmp_path, more)] == reported


def test_the_boot_timeout_is_set_in_the_document_that_the_problem_names(tmp_path: Path) -> None:
    old = problems(tmp_path, patch("machine: {time: {bootTimeout: 2m}}", "all"))
    new = patch("{apiVersion: v1alpha1, kind: TimeSyncConfig, bootTimeout: 2m}", "all")

    assert [problem for problem in old if "`kind: TimeSyncConfig`" in problem] == old != []
    assert problems(tmp_path, new) == []


def test_certificates_of_the_api_may_have_addresses_and_short_names() -> None:
    read = loaded(
        f"{CLUSTER}cluster_api_tls_sans: [127.66.0.99, 'fd00::9', api, API.example.com]\n"
    )

    assert codes(read) == []
    assert read.configuration.kubernetes.api.tls_sans == (
        *("127.66.0.99", "fd00::9", "api", "api.example.com"),
    )


def test_a_repository_without_tls_is_accepted() -> None:
    url = "http://git.example.com/owner/repo.git"
    read = loaded(CLUSTER.replace("owner/meadow", url))
    cluster = resolve(read).cluster

    assert codes(read) == []
    assert cluster is not None
    assert (cluster.repository.url, cluster.repository.private) == (url, False)


@pytest.mark.parametrize(
    "more",
    [
        'cilium: {bgp: {router_addr: "", router_asn: "", node_asn: ""}}\n',
        'cilium_bgp_router_addr: ""\ncilium_bgp_router_asn: ""\ncilium_bgp_node_asn: ""\n',
    ],
)
def test_blank_texts_of_bgp_mean_that_there_is_none(more: str) -> None:
    read = loaded(f"{CLUSTER}{more}")
    cluster = resolve(read).cluster

    assert codes(read) == []
    assert cluster is not None
    assert cluster.cilium.bgp is None
