"""Directories of talhelper users become our files, and nothing is lost without a word."""

from __future__ import annotations

import tomllib

import pytest

from stockman.config.convert.output import ConversionResult
from stockman.config.load import load
from stockman.config.rules import check_rules
from stockman.model.problem import Problem
from tests.fast_yaml import load_yaml
from tests.talos.imports.adopting import GIVEN, from_talhelper
from tests.talos.imports.directories import (
    ALL,
    LARGE,
    SCHEMATIC,
    SMALL,
    TOP,
    large,
    small,
    template,
)

CANARY = "canary-c0ffee"
SEALED = "ENC[AES256_GCM,data:eA==,iv:eA==,tag:eA==,type:str]"
SOPS = "sops: {mac: x}\n"
LINES = ["1.11", "1.12", "1.13", "1.14"]


def with_more(text: str) -> dict[str, str]:
    """The smallest directory with something added to its only node."""
    files = small("1.13")
    return {**files, "talconfig.yaml": files["talconfig.yaml"] + text}


def nodes(result: ConversionResult) -> list[dict[str, object]]:
    nodes_file: list[dict[str, object]] = load_yaml(result.files["nodes.yaml"])["nodes"]
    return nodes_file


def cluster(result: ConversionResult) -> dict[str, object]:
    yaml: dict[str, object] = load_yaml(result.files["cluster.yaml"])
    return yaml


def fate(result: ConversionResult, key: str) -> tuple[str, str]:
    (converted,) = [converted for converted in result.carried if converted.key == key]
    return converted.state, converted.how


def only_error(result: ConversionResult) -> Problem:
    (problem,) = result.problems.errors
    return problem


@pytest.mark.parametrize("to_toml", [False, True])
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ALL)
def test_the_result_is_valid(name: str, line: str, to_toml: bool) -> None:
    result = from_talhelper(ALL[name](line), to_toml=to_toml)

    loaded = load({file: text.encode() for file, text in result.files.items()})
    check_rules(loaded)
    assert [str(error) for error in loaded.problems.errors] == []
    assert result.to_fill == ()


@pytest.mark.parametrize("name", ALL)
def test_both_dialects_say_the_same(name: str) -> None:
    result = from_talhelper(ALL[name]("1.13"), to_toml=True)

    assert list(result.files) == ["cluster.toml"]
    assert tomllib.loads(result.files["cluster.toml"])["talos"]["patch_order"] == "talhelper"
    assert result.differs == from_talhelper(ALL[name]("1.13")).differs


def test_keys_of_a_node_are_ours() -> None:
    (node,) = nodes(from_talhelper(small("1.13")))

    assert node == {
        "name": "cp-1",
        "address": "127.66.0.21",
        "controller": True,
        "disk": "/dev/sda",
        "mac_addr": "bc:24:11:00:00:21",
        "schematic_id": "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba",
    }


def test_what_the_template_renders_needs_almost_no_patch() -> None:
    result = from_talhelper(template("1.12"))

    assert cluster(result)["talos"] == {
        "platform": "nocloud",
        "patch_order": "talhelper",
        "patches": {
            "all": [
                {"machine": {"certSANs": ["127.0.0.1"]}},
                {
                    "machine": {
                        "files": [
                            {
                                "op": "create",
                                "path": "/etc/cri/conf.d/20-customization.part",
                                "content": '[plugins."io.containerd.cri.v1.images"]\n'
                                "  discard_unpacked_layers = false\n",
                            }
                        ]
                    }
                },
                {"machine": {"kubelet": {"extraConfig": {"serializeImagePulls": False}}}},
                {"machine": {"sysctls": {"fs.inotify.max_user_watches": "1048576"}}},
            ],
            "controller": [
                {"cluster": {"apiServer": {"certSANs": ["127.0.0.1"]}}},
                {
                    "cluster": {
                        "apiServer": {
                            "admissionControl": {"$patch": "delete"},
                            "extraArgs": {"enable-aggregator-routing": "true"},
                        },
                        "controllerManager": {"extraArgs": {"bind-address": "0.0.0.0"}},
                        "etcd": {"extraArgs": {"listen-metrics-urls": "http://0.0.0.0:2381"}},
                    }
                },
            ],
        },
    }
    assert cluster(result)["node_dns_servers"] == ["127.66.0.1", "127.66.0.2"]
    assert cluster(result)["node_ntp_servers"] == ["162.159.200.1"]


@pytest.mark.parametrize("name", ALL)
def test_every_key_is_accounted_for(name: str) -> None:
    files = ALL[name]("1.13")
    source = load_yaml(files["talconfig.yaml"])

    keys = [converted.key for converted in from_talhelper(files).carried]

    expected_keys = [key for key in source if key not in ("nodes", "controlPlane", "worker")]
    expected_keys += [f"nodes[{n}].{key}" for n, node in enumerate(source["nodes"]) for key in node]
    expected_keys += [
        f"{group}.{key}" for group in ("controlPlane", "worker") for key in source.get(group, ())
    ]
    missing = [
        key for key in expected_keys if not any(converted.startswith(key) for converted in keys)
    ]
    assert missing == []


def test_each_place_of_the_report_is_one_of_the_files() -> None:
    files = large("1.13")

    for converted in from_talhelper(files).carried:
        lines = files[converted.at.file].split("\n")
        assert converted.at.column <= len(lines[converted.at.line - 1])


def test_a_patch_for_all_wins_over_that_of_a_node_and_is_told() -> None:
    result = from_talhelper(large("1.13"))

    problems = [problem for problem in result.problems if problem.code == "import.patch-order"]
    setting = "v1alpha1 machine.sysctls.vm.nr_hugepages"
    assert [(problem.what, str(problem.where)) for problem in problems] == [
        (f"both nodes[0].patches[0] and patches[0] set {setting}", "talconfig.yaml:74:10"),
        (f"both controlPlane.patches[0] and patches[0] set {setting}", "talconfig.yaml:109:7"),
    ]


def test_a_metal_installer_is_rewritten_unless_the_user_knows_better() -> None:
    warned = from_talhelper(template("1.13"))
    kept = from_talhelper(template("1.13"), platform="metal")

    assert [problem.code for problem in warned.problems] == ["import.metal-installer"]
    assert [problem.code for problem in kept.problems] == []
    assert [differ.after for differ in kept.differs if differ.what.endswith("install.image")] == [
        f"factory.talos.dev/metal-installer/{SCHEMATIC}:v1.13.9"
    ]


def test_an_encrypted_bundle_is_taken_byte_for_byte() -> None:
    bundle = f"cluster: {{id: '{SEALED}'}}\n{SOPS}"
    files = {**small("1.13"), "talsecret.sops.yaml": bundle}

    assert from_talhelper(files).files["talos/talsecret.sops.yaml"] == bundle
    assert from_talhelper(files, to_toml=True).files["talos/secrets.sops.yaml"] == bundle


@pytest.mark.parametrize(
    "content", [f"cluster: {{id: {CANARY}}}\n", f"cluster: {{id: {CANARY}}}\n{SOPS}"]
)
def test_a_bundle_in_the_clear_is_never_copied(content: str) -> None:
    result = from_talhelper({**small("1.13"), "talsecret.sops.yaml": content})

    assert [problem.code for problem in result.problems] == [
        "import.metal-installer",
        "import.open-bundle",
    ]
    assert sorted(result.files) == ["cluster.yaml", "nodes.yaml"]
    assert CANARY not in str(result) + "".join(result.files.values())


def test_what_holds_an_encrypted_value_is_left_out() -> None:
    files = with_more("patches: [\"machine: {env: {TOKEN: '${token}'}}\"]\n")
    files["talenv.sops.yaml"] = f"token: {SEALED}\n{SOPS}"

    result = from_talhelper(files)

    assert ("left out", "it contains an encrypted value, which would be unencrypted here") in [
        (converted.state, converted.how)
        for converted in result.carried
        if converted.key == "patches[0]"
    ]
    assert "patches" not in str(cluster(result)["talos"])


def test_an_encrypted_patch_is_left_out() -> None:
    files = with_more('patches: ["@./secret.sops.yaml"]\n')
    files["secret.sops.yaml"] = f"machine: {{env: {{A: '{SEALED}'}}}}\n{SOPS}"

    result = from_talhelper(files)

    assert fate(result, "patches[0] (secret.sops.yaml)")[0] == "left out"
    assert "ENC[" not in "".join(result.files.values())


def test_a_secret_in_the_clear_does_not_get_into_a_second_file() -> None:
    links = f"      - {{interface: wg0, wireguard: {{privateKey: {CANARY}, listenPort: 5}}}}\n"

    result = from_talhelper(with_more(links))

    assert CANARY not in "".join(result.files.values())
    assert ("left out", "it contains a secret (privateKey), which would be unencrypted here") in [
        (converted.state, converted.how) for converted in result.carried
    ]


def test_operations_become_the_part_that_they_change() -> None:
    patch = """\
patches:
  - |-
    - {op: add, path: /machine/sysctls/net.core.somaxconn, value: "5"}
    - {op: remove, path: /cluster/apiServer/admissionControl}
  - |-
    - {op: replace, path: /machine/certSANs/0, value: a}
"""
    result = from_talhelper(
        {"talconfig.yaml": TOP.format(talos="1.11.5", kubernetes="1.34.1") + SMALL + patch}
    )

    talos = cluster(result)["talos"]
    assert isinstance(talos, dict)
    assert talos["patches"]["all"] == [
        {"machine": {"sysctls": {"net.core.somaxconn": "5"}}},
        {"cluster": {"apiServer": {"admissionControl": {"$patch": "delete"}}}},
    ]
    assert ("left out", "a list of operations that has no equivalent as a patch document") in [
        (converted.state, converted.how)
        for converted in result.carried
        if converted.key == "patches[1]"
    ]


def test_without_a_mac_address_one_has_to_be_given() -> None:
    files = small("1.13")
    text = files["talconfig.yaml"].replace(
        'deviceSelector: {hardwareAddr: "bc:24:11:00:00:21"}', "interface: eth0"
    )

    result = from_talhelper({**files, "talconfig.yaml": text})

    assert [converted.what for converted in result.to_fill] == ["nodes[0].mac_addr is missing"]
    assert result.differs


def test_what_talhelper_does_not_know_is_to_fill_in() -> None:
    result = from_talhelper(small("1.13"), given={})

    assert [converted.what for converted in result.to_fill] == [
        "cluster_dns_gateway_addr is missing",
        "cluster_gateway_addr is missing",
        "repository_name is missing",
    ]
    assert result.differs == from_talhelper(small("1.13"), given=GIVEN).differs


def test_a_variable_can_be_given() -> None:
    files = template("1.13")
    del files["talenv.yaml"]

    result = from_talhelper(
        files, variables={"talosVersion": "v1.13.9", "kubernetesVersion": "v1.36.0"}
    )

    assert result.files == from_talhelper(template("1.13")).files


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        (("meadow", "${name}"), "import.variable", "talconfig.yaml:1:14"),
        (("v1.13.9", "v1.2.3"), "import.version", "talconfig.yaml:2:15"),
        (("v1.13.9", "newest"), "import.version", "talconfig.yaml:2:15"),
        (("kubernetesVersion", "kubernetes"), "config.missing-key", "talconfig.yaml:1:1"),
        (("hostname", "host"), "config.missing-key", "talconfig.yaml:6:5"),
        (("nodes:\n", "nodes: []\nothers:\n"), "import.no-nodes", "talconfig.yaml:5:8"),
        (("nodes:\n", "nodes:\n  - x\n"), "config.not-a-mapping", "talconfig.yaml:6:5"),
        (("nodes:\n", "nodes: ]\n"), "yaml.syntax", "talconfig.yaml:5:8"),
        (("meadow", "[a"), "yaml.syntax", "talconfig.yaml:2:13"),
    ],
)
def test_what_is_broken_is_told_with_its_place(
    change: tuple[str, str], code: str, where: str
) -> None:
    text = small("1.13")["talconfig.yaml"].replace(*change, 1)

    problem = only_error(from_talhelper({"talconfig.yaml": text}))

    assert (problem.code, str(problem.where)) == (code, where)


@pytest.mark.parametrize(
    ("patches", "code", "where"),
    [
        ("[{a: b}]", "patch.form", "talconfig.yaml:16:11"),
        ("['@./none.yaml']", "import.missing-file", "talconfig.yaml:16:11"),
        ("['machine: {nosuch: 1}']", "patch.field", "talconfig.yaml:16:22"),
        ("['machine: {']", "patch.unreadable", "talconfig.yaml:17:1"),
        ("['just a text']", "patch.form", "talconfig.yaml:16:11"),
        ("['{kind: Nothing, apiVersion: v1alpha1}']", "patch.kind", "talconfig.yaml:16:19"),
        ("['{{ .Nothing }}']", "import.template", "talconfig.yaml:16:12"),
    ],
)
def test_a_broken_patch_is_told_with_its_place(patches: str, code: str, where: str) -> None:
    problem = only_error(from_talhelper(with_more(f"patches: {patches}\n")))

    assert (problem.code, str(problem.where)) == (code, where)


def test_a_directory_without_the_file_is_told() -> None:
    assert only_error(from_talhelper({})).code == "import.missing-file"


def test_the_large_directory_has_almost_every_key() -> None:
    """Or else the tests above would prove little."""
    assert len([line for line in LARGE.split("\n") if line]) > 100


def changed(old: str, new: str) -> ConversionResult:
    files = small("1.13")
    return from_talhelper({**files, "talconfig.yaml": files["talconfig.yaml"].replace(old, new)})


def test_a_value_that_no_key_accepts_is_the_only_one_that_is_dropped() -> None:
    result = changed("hostname: cp-1", "hostname: cp-1.example.com")

    (item,) = result.lost
    (node,) = nodes(result)
    assert item.key == "nodes[0].hostname"
    assert (node["controller"], node["disk"], node["address"]) == (True, "/dev/sda", "127.66.0.21")
    assert cluster(result)["talos"]
    assert fate(result, "nodes[0].hostname")[0] == "left out"
    assert fate(result, "nodes[0].installDisk")[0] == "taken"
    assert result.is_lossy


def test_an_item_that_no_key_accepts_leaves_the_others() -> None:
    servers = "controlPlane: true\n    nameservers: [127.66.0.1, 'fd00::53']"
    result = changed("controlPlane: true", servers)

    written = cluster(result)
    assert written["node_dns_servers"] == ["127.66.0.1"]
    assert written["node_cidr"] == "127.66.0.0/24"
    assert written["talos"] == {"platform": "nocloud", "patch_order": "talhelper"}
    assert fate(result, "nodes[0].nameservers")[0] == "changed"
    assert result.is_lossy


def test_two_address_families_are_refused() -> None:
    files = small("1.13")
    more = 'clusterPodNets: [10.42.0.0/16, "fd00:10:42::/56"]\n'
    result = from_talhelper({**files, "talconfig.yaml": more + files["talconfig.yaml"]})

    problem = only_error(result)
    assert problem.code == "import.dual-stack"
    assert "fd00:10:42::/56" in problem.why
    assert result.files == {}


def test_another_cni_is_told() -> None:
    files = small("1.13")
    more = "cniConfig: {name: flannel}\n"
    result = from_talhelper({**files, "talconfig.yaml": more + files["talconfig.yaml"]})

    assert "import.cni" in [problem.code for problem in result.problems]
    assert fate(result, "cniConfig")[0] == "left out"
