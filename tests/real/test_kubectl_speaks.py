"""The real kubectl speaks with API servers of the lab, over TLS and with certificates."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from tests.real.kube_served import Kubectl, kubectl_on_lab
from tools.pytest_plugin import RealTool

WOOL = """\
apiVersion: v1
kind: ConfigMap
metadata:
  name: wool
data:
  colour: {}
"""


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[Kubectl]:
    scratch = tmp_path_factory.mktemp("lab")
    with kubectl_on_lab(scratch, real_tool("kubectl"), "127.94.0.0/16", "three-node") as kubectls:
        yield kubectls


def test_the_server_is_ready(kubectl: Kubectl) -> None:
    assert kubectl.told("get", "--raw", "/readyz") == "ok"


def test_machines_are_nodes(kubectl: Kubectl) -> None:
    names = [machine.hostname for machine in kubectl.lab.world.talos.machines]

    found = kubectl.told("get", "nodes", "-o", "name").split()

    assert found == sorted(f"node/{name}" for name in names)


def test_namespaces_are_there(kubectl: Kubectl) -> None:
    found = kubectl.told("get", "ns", "-o", "name").split()

    assert found[:4] == [
        *("namespace/default", "namespace/kube-node-lease"),
        *("namespace/kube-public", "namespace/kube-system"),
    ]


def test_resources_are_discovered(kubectl: Kubectl) -> None:
    found = kubectl.told("api-resources", "-o", "name").split()

    assert {"pods", "deployments.apps", "clusterroles.rbac.authorization.k8s.io"} <= set(found)


def test_a_config_map_comes_and_goes(kubectl: Kubectl) -> None:
    assert "created" in kubectl.told("apply", "-f", "-", text=WOOL.format("white"))
    assert "configured" in kubectl.told("apply", "-f", "-", text=WOOL.format("black"))
    assert kubectl.told("get", "cm", "wool", "-o", "jsonpath={.data.colour}") == "black"
    kubectl.told("delete", "cm", "wool")

    gone = kubectl.ask("get", "cm", "wool")

    assert gone.stderr == 'Error from server (NotFound): configmaps "wool" not found\n'


def test_changes_are_watched(kubectl: Kubectl) -> None:
    kubectl.told("create", "ns", "seen")
    command = kubectl.command(
        *("get", "cm", "-n", "seen", "-w", "-o", "name"),
        *("--field-selector", "metadata.name!=kube-root-ca.crt"),
    )
    with Popen(command, stdout=PIPE, text=True) as watching:
        assert watching.stdout is not None
        try:
            kubectl.told("create", "cm", "-n", "seen", "first")
            assert watching.stdout.readline() == "configmap/first\n"
            kubectl.told("create", "cm", "-n", "seen", "second")
            assert watching.stdout.readline() == "configmap/second\n"
        finally:
            watching.terminate()


def test_somebody_who_leaves_is_forgotten(kubectl: Kubectl) -> None:
    command = kubectl.command("get", "--raw", "/api/v1/namespaces?watch=1")
    with Popen(command, stdout=PIPE, text=True) as watching:
        assert watching.stdout is not None
        assert '"ADDED"' in watching.stdout.readline()
        watching.terminate()

    assert kubectl.told("get", "--raw", "/livez") == "ok"


def test_a_token_is_somebody(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl.told("create", "sa", "shepherd")
    token = kubectl.told("create", "token", "shepherd").strip()
    config = json.loads(kubectl.told("config", "view", "--raw", "-o", "json"))
    config["users"] = [{"name": config["users"][0]["name"], "user": {"token": token}}]
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config), encoding="utf-8")
    shepherd = Kubectl(kubectl.lab, kubectl.program, path)

    assert "system:serviceaccount:default:shepherd" in shepherd.told("auth", "whoami")
    assert shepherd.ask("get", "pods").stderr == (
        'Error from server (Forbidden): pods is forbidden: User "system:serviceaccount:default:'
        'shepherd" cannot list resource "pods" in API group "" in the namespace "default"\n'
    )
    kubectl.told("delete", "sa", "shepherd")
    assert "You must be logged in" in shepherd.ask("get", "pods").stderr


def test_a_fault_is_what_the_server_says(kubectl: Kubectl) -> None:
    kubectl.lab.fault("kubernetes", "fail", resource="secrets", status=503, message="not today")

    found = kubectl.ask("get", "secrets")

    assert found.stderr == "Error from server (ServiceUnavailable): not today\n"


def test_without_a_quorum_nothing_is_read(kubectl: Kubectl) -> None:
    faults = [
        kubectl.lab.fault("etcd", "fail", times=None, machine=machine.hostname, action="run")
        for machine in kubectl.lab.world.talos.machines[:2]
    ]
    refused = kubectl.ask("create", "cm", "never", "--request-timeout=20s")
    for number in faults:
        kubectl.lab.take_back(number)

    assert refused.returncode == 1
    assert kubectl.ask("get", "cm", "never").returncode == 1
