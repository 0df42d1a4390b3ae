"""The real flux program looks at releases of the lab, and has them looked at again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from subprocess import run

import pytest

from tests.real.kube_served import Kubectl, kubectl_on_lab
from tools.pytest_plugin import RealTool

_CHARTS = "oci://ghcr.io/controlplaneio-fluxcd/charts"
_ECHO = "oci://ghcr.io/home-operations/charts/echo"
_ACCOUNT = """\
apiVersion: v1
kind: ServiceAccount
metadata: {name: installer, namespace: kube-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: installer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: installer, namespace: kube-system}]
"""
_JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {{name: install-{name}, namespace: kube-system}}
spec:
  backoffLimit: 0
  template:
    spec:
      serviceAccountName: installer
      restartPolicy: Never
      hostNetwork: true
      tolerations: [{{operator: Exists}}]
      containers:
        - name: helm
          image: docker.io/alpine/helm:4.0.1
          args: [upgrade, --install, {name}, "{chart}", --version, "{version}",
                 --namespace, {namespace}, --create-namespace, --wait]
"""
_RELEASE = f"""\
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {{name: echo, namespace: default}}
spec: {{interval: 15m, url: "{_ECHO}", ref: {{tag: 0.2.3}}}}
---
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {{name: echo, namespace: default}}
spec: {{interval: 1h, chartRef: {{kind: OCIRepository, name: echo}}}}
"""
_PATIENCE = 120.0


class Flux:
    """The program, with the cluster that it looks at."""

    def __init__(self, kubectl: Kubectl, program: Path) -> None:
        self.kubectl = kubectl
        self._program = program

    def told(self, *arguments: str) -> str:
        """What it prints where it ends well."""
        config = str(self.kubectl.config)
        found = run(
            [self._program, "--kubeconfig", config, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=_PATIENCE,
        )
        assert found.returncode == 0, found.stderr
        return found.stdout + found.stderr

    def rows(self, *arguments: str) -> list[list[str]]:
        """What `get` prints, without the head."""
        lines = self.told("get", *arguments).splitlines()
        return [[one.strip() for one in line.split("\t")][:5] for line in lines[1:] if line.strip()]


def _install(kubectl: Kubectl, name: str, chart: str, version: str, namespace: str) -> None:
    job = _JOB.format(name=name, chart=chart, version=version, namespace=namespace)
    kubectl.told("apply", "-f", "-", text=job)
    done = "--for=condition=Complete"
    kubectl.told("wait", done, f"job/install-{name}", "-n", "kube-system", "--timeout=50s")


@pytest.fixture(scope="module")
def flux(tmp_path_factory: pytest.TempPathFactory, real_tool: RealTool) -> Iterator[Flux]:
    scratch = tmp_path_factory.mktemp("lab")
    with kubectl_on_lab(scratch, real_tool("kubectl"), "127.86.0.0/16") as kubectl:
        kubectl.told("apply", "-f", "-", text=_ACCOUNT)
        for name in ("flux-operator", "flux-instance"):
            _install(kubectl, name, f"{_CHARTS}/{name}", "0.58.1", "flux-system")
        yield Flux(kubectl, real_tool("flux"))


def test_a_release_is_installed_looked_at_and_held(flux: Flux) -> None:
    kubectl = flux.kubectl
    kubectl.told("apply", "-f", "-", text=_RELEASE)
    kubectl.told("wait", "--for=condition=Ready", "hr/echo", "--timeout=50s")

    place = ("ocirepository", "echo", "-o", "jsonpath={.status.artifact.revision}")
    digest = kubectl.told("get", *place).partition("@sha256:")[2]
    version = f"0.2.3+{digest[:12]}"
    text = f"Helm install succeeded for release default/echo.v1 with chart echo@{version}"
    assert flux.rows("hr", "-n", "default") == [["echo", version, "False", "True", text]]
    assert "echo" in flux.told("get", "all", "-A")
    assert "applied revision" in flux.told("reconcile", "hr", "echo", "-n", "default")
    flux.told("suspend", "hr", "echo", "-n", "default")
    assert flux.rows("hr", "-n", "default")[0][2] == "True"
    flux.told("resume", "hr", "echo", "-n", "default")
    assert flux.rows("hr", "-n", "default")[0][2:4] == ["False", "True"]


def test_flux_finds_its_own_controllers(flux: Flux) -> None:
    found = flux.told("check")
    assert "all checks passed" in found
    assert "helm-controller: deployment ready" in found
