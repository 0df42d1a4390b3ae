"""The examples in help and reference work as described."""

import re
import sys
from pathlib import Path

import pytest
from stockman_lab.commands.registry import COMMANDS as LAB_COMMANDS

from docs._ext.commands import find_command
from stockman.cli.command import Command
from stockman.cli.registry import COMMANDS, EXAMPLES
from tests.docs import consoles
from tests.docs.pages import ROOT

NOT_RUN = {
    "stockman adopt --proxmox https://127.66.0.4:8006 --out my-cluster": "needs a cluster",
    "stockman adopt --proxmox https://127.66.0.4:8006 --dry-run": "needs a cluster",
    "stockman adopt --proxmox https://127.66.0.4:8006 --talosconfig talosconfig --kubeconfig"
    " kubeconfig --ca-file pve-root-ca.pem --out my-cluster --yes": "needs a cluster",
    "stockman init my-cluster --from-proxmox https://127.66.0.4:8006": "connects to Proxmox hosts",
    "stockman init my-cluster": "needs a terminal for its questions",
    "stockman config nocloud k8s-work-4 --iso ~/work-4.iso": "needs a secrets bundle",
    "stockman secrets set cluster.yaml cloudflare_token": "needs a terminal for the value",
    "stockman lab up": "runs until it is stopped",
    "stockman lab up --stage cluster --talos 1.13.9": "runs until it is stopped",
    "stockman lab up --speed 60": "runs until it is stopped",
    "stockman lab up --state rehearsal.state": "runs until it is stopped",
    "stockman doctor": "connects to servers",
    "stockman doctor --strict -o json": "connects to servers",
    "stockman versions components --online": "connects to registries",
}
COMMANDS_WITH_NETWORK = ("plan", "apply", "destroy", "status", "health", "drift", "adopt", "runs")
"""Commands that connect to hosts, machines and clusters; the how-to pages run them in a lab."""
VERSIONS = "clusterName: a, talosVersion: v1.13.9, kubernetesVersion: v1.36.0"
TALCONFIG = (
    f"{{{VERSIONS}, endpoint: 'https://127.66.0.10:6443',"
    " nodes: [{hostname: a, ipAddress: 127.66.0.21, controlPlane: true, installDisk: /dev/sda}]}"
)
TOPF = (
    f"{{{VERSIONS}, clusterEndpoint: 'https://127.66.0.10:6443',"
    " nodes: [{host: a, ip: 127.66.0.21, role: control-plane}]}"
)
BEFORE = {
    "stockman convert talhelper talos": f'mkdir talos; echo "{TALCONFIG}" > talos/talconfig.yaml',
    "stockman convert talhelper talos --out my-cluster": "rm -r my-cluster",
    "stockman convert topf talos --out my-cluster -o json": (
        f'rm -r my-cluster; echo "{TOPF}" > talos/topf.yaml'
    ),
    "stockman config machine k8s-work-4 --diff running.yaml": (
        "stockman config machine k8s-work-4 > running.yaml"
    ),
    "stockman convert my-cluster --to classic --stdout": (
        "rm -r my-cluster; stockman convert --to toml --out my-cluster -q"
    ),
    "stockman convert config/vm.yml --out my-cluster": (
        "rm -r my-cluster; mkdir config;"
        " echo 'talos_one: {id: 1030, name: one, node: pve, ip: 127.66.0.16/24}' > config/vm.yml"
    ),
    "stockman convert terraform/variables.tf --out my-cluster": (
        "rm -r my-cluster; mkdir terraform;"
        """ echo 'variable "cluster_name" { default = "lab" }' > terraform/variables.tf"""
    ),
    "stockman lab machine": (
        "stockman lab down -q; rm .stockman/lab.state; stockman lab up --stage cluster --detach -q"
    ),
    "stockman lab fault --file faults.yaml": (
        "echo '[{point: quorum, effect: fail}]' > faults.yaml"
    ),
    "stockman secrets create": "rm -r talos",
    "stockman secrets create --from controlplane.yaml": (
        "stockman secrets get talos/talsecret.sops.yaml > controlplane.yaml; rm -r talos"
    ),
    "stockman secrets create --from secrets.yaml": (
        "stockman secrets get talos/talsecret.sops.yaml > secrets.yaml; rm -r talos"
    ),
    "stockman secrets get kubernetes/secret.sops.yaml 'stringData[\"tls.crt\"]'": (
        "echo x | stockman secrets set kubernetes/secret.sops.yaml 'stringData[\"tls.crt\"]' -q"
    ),
    "stockman secrets set kubernetes/secret.sops.yaml stringData.token < token.txt": (
        "echo x > token.txt"
    ),
    "stockman secrets set kubernetes/secret.sops.yaml data.key --from-file tls.key": (
        "echo x > tls.key"
    ),
    "stockman secrets set talos/extra.sops.yaml --from-file talos/extra.sops.yaml": (
        "echo 'a: b' > talos/extra.sops.yaml"
    ),
}
"""What has to be done for single examples."""
ENDS_WITH = {
    "stockman config diff main branch -o json": 2,
    "stockman config machine k8s-work-4 --diff running.yaml": 4,  # the file masks secrets
    "stockman config migrate --to 1.14": 2,
    "stockman config migrate --to 1.14 node.yaml": 2,
    # There is no repository, so no history.
    "stockman secrets check": 4,
    "stockman secrets check --no-history": 4,
    "stockman secrets check --fix": 4,
    "stockman secrets check --strict -o json": 4,
}
"""Exit statuses other than 0."""

_BUNDLE = f"PYTHONPATH=$PYTHONPATH:{ROOT} {sys.executable} -m tests.app.machine_workspace"
SCENE = [
    "stockman init my-cluster --preset fifteen-node --network 127.66.0.0/16 -q",
    f"(cd my-cluster && {_BUNDLE})",
    "cp -r my-cluster ../other",
    "cp -r my-cluster old",
    "cp -r my-cluster new",
    "cp -r my-cluster main",
    "cp -r my-cluster branch",
    "sed -i 's/canary: .*/canary: [k8s-work-5]/' branch/cluster.yaml",
    "cp -r my-cluster/. .",
    r"printf 'apiVersion: v1alpha1\nkind: ZswapConfig\n' > worker.yaml",
    "echo 'machine: {type: worker, sysctls: {vm.swappiness: \"1\"}}' > node.yaml",
    "mkdir -p ~/.local/share/bash-completion/completions ~/.config/fish/completions ~/.zsh",
    "fpath=(. ~/.zsh)",
    "export EDITOR=true PROXMOX_TOKEN_SECRET=x",
]
"""What the examples take for granted: a few directories with configurations, and shells."""


def examples() -> list[str]:
    names = (*COMMANDS, *LAB_COMMANDS)
    commands = [command for name in names if isinstance(command := find_command(name), Command)]
    lines = [line for command in commands for line in command.examples]
    return list(dict.fromkeys([*EXAMPLES, *lines]))


def needs_network(line: str) -> bool:
    rotates = line.startswith("stockman secrets rotate proxmox")
    return rotates or line.split()[1] in COMMANDS_WITH_NETWORK


def test_examples_that_can_run_do(tmp_path: Path) -> None:
    lines = [line for line in examples() if line not in NOT_RUN and not needs_network(line)]
    aside = [f"cd {tmp_path}/work; {BEFORE.get(line, ':')}\n{line}" for line in lines]

    results = consoles.run([*SCENE, *aside], tmp_path)

    assert len(results) == len(SCENE) + len(lines)
    for line, end in zip([*SCENE, *lines], results, strict=True):
        assert end.status == ENDS_WITH.get(line, 0), "\n".join([line, *end.printed])


def test_examples_with_a_treatment_of_their_own_exist() -> None:
    assert [line for line in (*NOT_RUN, *BEFORE, *ENDS_WITH) if line not in examples()] == []


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_of_a_command_call_that_command(name: str) -> None:
    command = find_command(name)

    assert isinstance(command, Command)
    assert command.examples
    for line in command.examples:
        assert re.search(rf"\bstockman (-C \S+ )?{name}\b", line), line
