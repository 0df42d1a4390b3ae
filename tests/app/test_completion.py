from pathlib import Path

from stockman.app import completion

NODES = """
nodes:
  - {name: work-1, address: 127.66.0.11, controller: true, mac_addr: "bc:24:11:00:00:11"}
  - {name: work-2, address: 127.66.0.12, controller: false, mac_addr: "bc:24:11:00:00:12"}
"""


def test_nodes_come_out_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text(NODES)

    assert completion.node_names(tmp_path) == ("work-1", "work-2")


def test_files_that_are_missing_or_wrong_hold_no_nodes(tmp_path: Path) -> None:
    assert completion.node_names(tmp_path) == ()
    assert completion.node_names(tmp_path / "absent") == ()

    (tmp_path / "nodes.yaml").write_bytes(b"\xff\xfe nodes: [")

    assert completion.node_names(tmp_path) == ()


def test_a_node_without_a_name_is_no_name(tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text("nodes: [{name: work-1}, {address: 127.66.0.1}, 7]")

    assert completion.node_names(tmp_path) == ("work-1",)


def test_presets_are_named() -> None:
    assert {"single", "three-node", "fifteen-node", "home"} <= set(completion.preset_names())


def test_keys_of_both_dialects_are_named() -> None:
    assert {"cluster_pod_cidr", "kubernetes.pod_cidr", "nodes.vm.nics"} <= set(
        completion.key_names()
    )


def test_problem_codes_are_named() -> None:
    assert "explain.unknown" in completion.problem_codes()


def test_components_are_named() -> None:
    assert {"cilium", "proxmox-csi"} <= set(completion.catalog_names())
