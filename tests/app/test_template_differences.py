"""Files of cluster-template keep their meaning, or every difference is reported with its key."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stockman.app.rendering.validation import validate
from stockman.config.template_differences import DIFFERENCES, restoring_key
from tests.fast_yaml import load_yaml

CODE = "config.template-difference"
HOW_TO = Path(__file__).parents[2] / "docs/how-to/from-cluster-template.md"
CLUSTER = """\
node_cidr: 127.66.0.0/24
cluster_api_addr: 127.66.0.10
cluster_dns_gateway_addr: 127.66.0.11
cluster_gateway_addr: 127.66.0.12
cloudflare_gateway_addr: 127.66.0.13
cloudflare_domain: example.com
cloudflare_token: ${CLOUDFLARE_TOKEN}
repository_name: owner/meadow
"""
NODE = """\
  - name: {name}
    address: 127.66.0.{number}
    controller: {controller}
    disk: /dev/sda
    mac_addr: bc:24:11:00:00:{number}
    schematic_id: ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515
"""
NODES = "nodes:\n" + "".join(
    NODE.format(name=name, number=number, controller=controller)
    for name, number, controller in (("cp-1", 21, "true"), ("work-1", 31, "false"))
)


def reported(directory: Path, more: str = "") -> list[str]:
    (directory / "cluster.yaml").write_text(f"{CLUSTER}{more}")
    (directory / "nodes.yaml").write_text(NODES)
    problems = validate(directory).problems
    assert not problems.errors
    reasons = [problem.why for problem in problems if problem.code == CODE]
    return re.findall(r"\(([a-z_.-]+)\)", " ".join(reasons))


def restoring_yaml() -> str:
    return next(
        block.partition("\n")[2]
        for block in HOW_TO.read_text().split("```")
        if block.startswith("yaml\n# in cluster.yaml")
    )


def test_every_difference_is_reported_with_its_key(tmp_path: Path) -> None:
    assert reported(tmp_path) == [difference.key for difference in DIFFERENCES]


def test_the_keys_of_the_how_to_restore_all_of_them(tmp_path: Path) -> None:
    assert reported(tmp_path, restoring_yaml()) == []


def test_templates_of_the_user_keep_the_settings_of_machines(tmp_path: Path) -> None:
    (tmp_path / "templates/config/talos/patches/global").mkdir(parents=True)

    assert reported(tmp_path) == [
        difference.key for difference in DIFFERENCES if not difference.paths
    ]


def test_files_with_extensions_are_those_of_stockman(tmp_path: Path) -> None:
    assert reported(tmp_path, "talos: {extensions: [siderolabs/qemu-guest-agent]}\n") == []


@pytest.mark.parametrize("key", [difference.key for difference in DIFFERENCES])
def test_the_how_to_lists_each_difference(key: str) -> None:
    assert f"`{key}`" in HOW_TO.read_text()


def test_a_difference_of_machines_names_its_key() -> None:
    assert restoring_key("machine.sysctls.net.core.rmem_max") == "talos.sysctls"
    assert restoring_key("cluster.apiServer.admissionControl[0].name") == "talos.patches.controller"
    assert restoring_key("machine.certSANs") == ""


def test_the_how_to_has_values_that_yaml_reads_as_written() -> None:
    assert load_yaml(restoring_yaml())["talos"]["platform"] == "metal"
