"""A real cluster on loopback: etcd, server, controller manager and scheduler, kwok as kubelet."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import run

from tests.real.kubectl.authority import Authority
from tests.real.kubectl.nodes import MACHINES, POD_NETWORK, SERVICE_NETWORK
from tests.real.ports import free_port
from tests.real.rendered.api_server import etcd_server, running
from tests.real.waiting import wait_until
from tools.pytest_plugin import RealTool

STAGES = Path(__file__).with_name("stages.yaml")


@contextmanager
def real_cluster(
    place: Path, authority: Authority, account_key: Path, real_tool: RealTool
) -> Iterator[str]:
    """The address of a real server while everything runs."""
    port = free_port()
    address = f"127.0.0.1:{port}"
    config = place / "real-programs.kubeconfig"
    config.write_text(authority.kubeconfig(address), "ascii")
    certificate, key = authority.written("server", authority.server())
    ca, ca_key = authority.written("ca", authority.itself)
    with ExitStack() as stack:
        etcd = stack.enter_context(etcd_server(place, real_tool))
        stack.enter_context(
            running(
                place / "apiserver.log",
                *(real_tool("kube-apiserver"), f"--etcd-servers={etcd}"),
                *("--bind-address=127.0.0.1", "--advertise-address=127.0.0.1"),
                *(f"--secure-port={port}", f"--cert-dir={place / 'certificates'}"),
                *(f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}"),
                f"--client-ca-file={ca}",
                f"--service-account-key-file={account_key}",
                f"--service-account-signing-key-file={account_key}",
                "--service-account-issuer=https://127.0.0.1",
                "--authorization-mode=Node,RBAC",
                f"--service-cluster-ip-range={SERVICE_NETWORK}",
                "--profiling=false",
            )
        )
        kubectl = (real_tool("kubectl"), "--kubeconfig", config)
        wait_until(
            lambda: _told(*kubectl, "get", "--raw", "/readyz") == "ok",
            lambda: (place / "apiserver.log").read_text()[-2000:],
        )
        others = (f"--kubeconfig={config}", "--leader-elect=false", "--secure-port=0")
        stack.enter_context(
            running(
                place / "controllers.log",
                *(real_tool("kube-controller-manager"), *others),
                *(f"--root-ca-file={ca}", f"--service-account-private-key-file={account_key}"),
                *(f"--cluster-signing-cert-file={ca}", f"--cluster-signing-key-file={ca_key}"),
                *("--allocate-node-cidrs=true", f"--cluster-cidr={POD_NETWORK}"),
            )
        )
        stack.enter_context(running(place / "scheduler.log", real_tool("kube-scheduler"), *others))
        nodes = json.dumps({"apiVersion": "v1", "kind": "List", "items": _nodes()})
        assert _told(*kubectl, "create", "-f", "-", text=nodes)
        stack.enter_context(
            running(
                place / "kwok.log",
                *(real_tool("kwok"), "--kubeconfig", config, "--config", STAGES),
                *(
                    "--manage-nodes-with-label-selector=kubernetes.io/os=linux",
                    "--node-lease-duration-seconds=40",
                ),
            )
        )
        yield address


def _nodes() -> list[object]:
    return [machine.registered() for machine in MACHINES]


def _told(*command: str | Path, text: str = "") -> str:
    return run(command, input=text, capture_output=True, text=True, check=False).stdout
