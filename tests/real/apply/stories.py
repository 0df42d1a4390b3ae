"""What holds of every cluster that a run made: told by real programs and by the lab's log."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path
from subprocess import CompletedProcess, run
from typing import Any

import yaml

from tests.real.apply.client_files import ends, make_old
from tests.real.apply.herd import APPLY, Made
from tests.real.apply.others import (
    csi_attaches_a_volume,
    high_availability_moves_a_machine,
    karpenter_makes_a_machine,
)
from tests.real.apply.scene import writes
from tests.real.talos.stories.whole import skipped_without_own_network
from tools.pytest_plugin import RealTool

NOTHING = "No changes. The cluster matches the configuration.\n"
TALOSCTL = {"1.11": "1.11.5", "1.12": "1.12.1", "1.13": "1.13.9", "1.14": "1.14.1"}
"""The client for machines of a minor."""
_PATIENCE = 120
_CHECK = re.compile(r"waiting for (.*): (OK|SKIP)$", re.MULTILINE)


def the_second_run_changes_nothing(made: Made) -> None:
    """Plan and run have nothing to do, and write nothing; stockman's own token is enough."""
    assert made.ran.status == 0, f"{made.ran.out}\n{made.ran.err}"
    scene = made.scene
    before, runs = len(scene.requests()), scene.done("runs", "list", "-o", "json").out

    planned = scene.stockman("plan")
    repeated = scene.stockman(*APPLY)

    assert (planned.status, planned.out) == (0, NOTHING), planned
    assert (repeated.status, repeated.out) == (0, NOTHING), repeated
    requests = scene.requests()[before:]
    assert requests
    assert writes(requests) == []
    assert writes(scene.requests()[:before]) != []
    assert scene.done("runs", "list", "-o", "json").out == runs


def talosctl_finds_health(made: Made, real_tool: RealTool) -> None:
    """All checks of `talosctl health` end well, and etcd has the members that it should."""
    minor = made.scene.kind.talos.rpartition(".")[0]
    program = real_tool(f"talosctl@{TALOSCTL[minor]}")
    nodes, controllers = addresses(made), addresses(made, controllers=True)

    def ask(*words: str) -> CompletedProcess[str]:
        return _ran(program, "--talosconfig", made.talosconfig, *words)

    health = _well(ask("-n", controllers[0], "health", "--wait-timeout", "60s"))
    told = dict(_CHECK.findall(health.stderr))
    assert told["etcd to be healthy"] == "OK"
    skipped = {name for name, how in told.items() if how == "SKIP"}
    assert skipped <= skipped_without_own_network(minor), skipped
    members = _well(ask("-n", controllers[0], "etcd", "members")).stdout
    assert len(members.splitlines()) == len(controllers) + 1, members
    versions = _well(ask("-n", ",".join(nodes), "version", "--short")).stdout
    found = re.findall(r"(?m)^\s+Tag:\s+v(\S+)$", versions)
    assert found == [made.scene.kind.talos] * len(nodes), versions


def an_etcd_snapshot_is_whole(made: Made, real_tool: RealTool) -> None:
    """What `talosctl etcd snapshot` writes is a database to `etcdutl`."""
    minor = made.scene.kind.talos.rpartition(".")[0]
    program = real_tool(f"talosctl@{TALOSCTL[minor]}")
    file = made.scene.folder / "etcd.db"
    _well(
        _ran(
            *(
                program,
                "--talosconfig",
                made.talosconfig,
                "-n",
                addresses(made, controllers=True)[0],
            ),
            *("etcd", "snapshot", file),
        )
    )
    stdout = _well(_ran(real_tool("etcdutl"), "snapshot", "status", file, "-w", "json")).stdout
    assert json.loads(stdout)["totalKey"] > len(addresses(made))


def kubectl_finds_ready_nodes(made: Made, real_tool: RealTool) -> None:
    """Every node is ready, open for work, and of the version that the files say."""
    nodes = objects(made, real_tool, "nodes")
    assert {_address(one) for one in nodes} == set(addresses(made))
    for node in nodes:
        conditions = {each["type"]: each["status"] for each in node["status"]["conditions"]}
        assert conditions["Ready"] == "True", node
        assert not node["spec"].get("unschedulable"), node
        taints = {each["key"] for each in node["spec"].get("taints", [])}
        assert "node.cloudprovider.kubernetes.io/uninitialized" not in taints
    pods = objects(made, real_tool, "pods", "--all-namespaces")
    assert {pod["status"]["phase"] for pod in pods} <= {"Running", "Succeeded"}
    jobs = objects(made, real_tool, "jobs", "--all-namespaces")
    assert [job for job in jobs if job["metadata"]["name"].startswith("stockman-")] == []


def client_files_are_renewed(made: Made, real_tool: RealTool, left: timedelta) -> None:
    """A run makes certificates of clients anew that end soon or have ended; real clients judge."""
    scene = made.scene
    make_old(made, left)
    old, works = ends(made), left > timedelta()
    assert _clients_are_let_in(made, real_tool) == (works, works)

    planned = scene.stockman("plan")
    scene.done(*APPLY)

    verb = "ends" if works else "ended"
    assert planned.status == 2, planned
    for end in old:
        assert f"its certificate {verb} {end:%Y-%m-%d %H:%M}" in planned.out
    assert all(
        new - before > timedelta(days=300) for new, before in zip(ends(made), old, strict=True)
    )
    assert _clients_are_let_in(made, real_tool) == (True, True)
    the_second_run_changes_nothing(made)


def what_others_own_is_no_drift(made: Made, real_tool: RealTool) -> None:
    """Another installer, machines of Karpenter, volumes of CSI, and a machine that moved."""
    scene = made.scene
    minor, node = scene.kind.talos.rpartition(".")[0], addresses(made)[0]
    talosctl = (real_tool(f"talosctl@{TALOSCTL[minor]}"), "--talosconfig", made.talosconfig)
    before = _well(_ran(*talosctl, "-n", node, "get", "mc", "-o", "yaml")).stdout
    image = next(iter(re.findall(r"image: (\S*installer\S*):v\S+", before)))
    patch = json.dumps({"machine": {"install": {"image": f"{image}:v{minor}.0"}}})
    _well(_ran(*talosctl, "-n", node, "patch", "mc", "--mode", "no-reboot", "-p", patch))
    karpenter_makes_a_machine(scene)
    csi_attaches_a_volume(scene)
    high_availability_moves_a_machine(scene)

    drift = scene.stockman("drift")
    planned = scene.stockman("plan")

    after = _well(_ran(*talosctl, "-n", node, "get", "mc", "-o", "yaml")).stdout
    assert f"{image}:v{minor}.0" in after
    assert (drift.status, drift.out) == (0, ""), drift
    assert (planned.status, planned.out) == (0, NOTHING), planned


def _clients_are_let_in(made: Made, real_tool: RealTool) -> tuple[bool, bool]:
    """Whether Talos takes the talosconfig, and Kubernetes the kubeconfig."""
    minor = made.scene.kind.talos.rpartition(".")[0]
    talosctl, node = real_tool(f"talosctl@{TALOSCTL[minor]}"), addresses(made)[0]
    talos = _ran(talosctl, "--talosconfig", made.talosconfig, "-n", node, "get", "hostname")
    kubectl = ("--kubeconfig", str(made.kubeconfig), "get", "nodes", "--request-timeout=20s")
    return talos.returncode == 0, _ran(real_tool("kubectl"), *kubectl).returncode == 0


def flux_finds_everything_ready(made: Made, real_tool: RealTool) -> None:
    """The program of Flux sees its parts work, and the repository applied."""
    program = real_tool("flux")

    def ask(*words: str) -> str:
        common = ("--kubeconfig", str(made.kubeconfig), "--timeout", "20s")
        return _well(_ran(program, *common, *words)).stdout

    for kind in (("source", "git"), ("kustomization",)):
        shown = ask("get", *kind, "--all-namespaces", "--no-header")
        rows = [[one.strip() for one in line.split("\t")] for line in shown.splitlines()]
        assert rows, kind
        assert {row[4] for row in rows} == {"True"}, shown


def addresses(made: Made, *, controllers: bool = False) -> list[str]:
    """Where the machines answer, or the controllers among them, as the files say."""
    nodes = yaml.safe_load((made.scene.directory / "nodes.yaml").read_text())["nodes"]
    return [node["address"] for node in nodes if node.get("controller") or not controllers]


def objects(made: Made, real_tool: RealTool, *words: str) -> list[Any]:
    """What kubectl gets."""
    words = ("--kubeconfig", str(made.kubeconfig), "get", *words, "-o", "json")
    found: list[Any] = json.loads(_well(_ran(real_tool("kubectl"), *words)).stdout)["items"]
    return found


def _address(node: Any) -> str:
    found = {address["type"]: address["address"] for address in node["status"]["addresses"]}
    return str(found["InternalIP"])


def _ran(*command: str | Path) -> CompletedProcess[str]:
    return run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE)


def _well(done: CompletedProcess[str]) -> CompletedProcess[str]:
    assert done.returncode == 0, f"{done.args}\n{done.stdout}\n{done.stderr}"
    return done
