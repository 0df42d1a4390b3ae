import json

import pytest

from stockman.cli.edge import run


def test_a_key_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "nodes.vm.nics"]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith("KEY:      nodes.vm.nics\n")
    assert "\nFIELDS:\n  bridge <text> required\n" in shown


def test_recursion_goes_to_the_last_key(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "nodes", "--recursive"]) == 0

    assert "\n      bridge <text> required\n" in capsys.readouterr().out


def test_without_a_name_the_keys_of_the_files_are_listed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["explain"]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith("cluster.yaml:\n  cluster_name <text>\n")
    assert "\nnodes.yaml:\n  nodes <list of mappings>\n" in shown


def test_programs_get_everything_in_an_envelope(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "cluster_pod_cidr", "-o", "json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "Explanation"
    assert document["data"]["key"]["same_as"] == "kubernetes.pod_cidr"
    assert document["data"]["key"]["default"] == "10.42.0.0/16"


def test_programs_get_the_list_of_keys_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "-o", "json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert [row["file"] for row in document["data"]] == ["cluster.yaml", "nodes.yaml"]


def test_a_problem_code_prints_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "explain.unknown"]) == 0

    assert "explain.unknown" in capsys.readouterr().out


def test_an_unknown_name_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "nodes.vm.nicz"]) == 64

    printed = capsys.readouterr()
    assert printed.out == ""
    assert "error[explain.unknown]" in printed.err
    assert "`stockman explain nodes.vm.nics`" in printed.err


def test_a_component_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "component", "proxmox-ccm"]) == 0

    shown = capsys.readouterr().out
    assert shown.startswith("COMPONENT:  proxmox-ccm\n")
    assert "role StockmanCCM on /: VM.Audit Sys.Audit" in " ".join(shown.split())
    assert "\nREADY WHEN:\n" in shown


def test_components_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "component"]) == 0

    assert "\nproxmox-csi\n" in capsys.readouterr().out


def test_programs_get_a_component_in_an_envelope(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "component", "talos-backup", "-o", "json"]) == 0

    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "Component"
    assert document["data"]["talos_role"] == "os:etcd:backup"


@pytest.mark.parametrize(
    "texts", [("component", "celium"), ("component", "echo", "cilium"), ("nodes", "classes")]
)
def test_what_cannot_be_explained_is_wrong_usage(texts: tuple[str, ...]) -> None:
    assert run(["explain", *texts]) == 64
