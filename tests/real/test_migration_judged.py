"""Migrations are judged by talosctl of the target, and by what Talos itself makes of both forms."""

from __future__ import annotations

import json
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from stockman.talos.go_yaml import dump
from stockman.talos.migration.draft import CONTRACTS
from stockman.talos.migration.migrate import MigrationOptions, migrate_configuration
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.decode import ConfigDocument
from stockman.talos.patches.schema import plain_value
from tests.real.machine.estates import estate as preset
from tests.talos.machine.clusters import TALOS, bundle
from tests.talos.migration.configurations import rich_patch
from tools.pytest_plugin import RealTool

PAIRS = [(a, b) for a in CONTRACTS for b in CONTRACTS if a < b]
ROLES = ("controlplane", "worker")
IMAGE = (
    "factory.talos.dev/metal-installer/"
    "376567988ad370138ad8b2698212367b8edcb69b5fd68c80be1f2ec7d603b4ba:v1.14.0"
)
LINKS = {f"eth{number}": f"bc:24:11:00:00:4{number}" for number in range(5)}


def written(documents: tuple[ConfigDocument, ...]) -> str:
    trees = [plain_value(document.canonical()) for document in documents]
    return "---\n".join(dump(tree) for tree in trees if isinstance(tree, dict))


@cache
def gen_config(talosctl: Path, role: str, line: str) -> str:
    """What `talosctl gen config` writes with the patch of a user."""
    patch = rich_patch(controller=role == "controlplane")
    if line != "1.11":
        patch = patch.replace("    hostname: cp-9\n", "")
    done = subprocess.run(
        [
            *(talosctl, "gen", "config", "meadow", "https://127.66.0.10:6443"),
            *("--kubernetes-version", "1.34.1", "--install-image", IMAGE),
            *("--with-docs=false", "--with-examples=false", "--config-patch", patch),
            *("--output-types", role, "--output", "-"),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def refusals(talosctl: Path, text: str, place: Path) -> list[str]:
    """What `talosctl validate --strict` says against a configuration, in both modes."""
    path = place / "node.yaml"
    path.write_text(text)
    stderrs = []
    for mode in ("metal", "cloud"):
        done = subprocess.run(
            [talosctl, "validate", "--config", path, "--mode", mode, "--strict"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            stderrs.append(done.stderr)
    return stderrs


@pytest.mark.parametrize("new_defaults", [False, True])
@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_talosctl_accepts_what_users_configurations_become(
    real_tool: RealTool, tmp_path: Path, source: str, target: str, role: str, new_defaults: bool
) -> None:
    text = gen_config(real_tool(f"talosctl@{TALOS[source]}"), role, source)

    after = migrate_configuration(
        load_documents("node.yaml", text, source),
        target,
        MigrationOptions(new_defaults=new_defaults),
    )

    talosctl = real_tool(f"talosctl@{TALOS[target]}")
    assert refusals(talosctl, written(after.documents), tmp_path) == []


@pytest.mark.parametrize("name", ["single", "fifteen-node"])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_talosctl_accepts_what_presets_become(
    real_tool: RealTool, tmp_path: Path, source: str, target: str, name: str
) -> None:
    from stockman.talos.machine.configuration import configuration_text, machine_documents

    talosctl = real_tool(f"talosctl@{TALOS[target]}")
    desired = preset(name, source)
    for node in {node.role: node for node in desired.nodes}.values():
        text = configuration_text(machine_documents(desired, node, bundle())).reveal()
        after = migrate_configuration(load_documents("node.yaml", text, source), target)

        assert refusals(talosctl, written(after.documents), tmp_path) == []


def asked(program: list[str | Path], tasks: list[dict[str, Any]]) -> list[Any]:
    done = subprocess.run(
        program,
        input="\n".join(json.dumps(task) for task in tasks),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert not [answer["error"] for answer in answers if "error" in answer]
    return answers


UNSPECIFIED = {"primary"}
"""Of bonds: the older form always says that link number 0 is the primary one, which is none."""


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("target", CONTRACTS[1:])
def test_the_controllers_of_talos_make_the_same_network(
    real_tool: RealTool, target: str, role: str
) -> None:
    text = gen_config(real_tool(f"talosctl@{TALOS['1.11']}"), role, "1.11")
    after = written(
        migrate_configuration(load_documents("node.yaml", text, "1.11"), target).documents
    )
    tasks = [{"configuration": one, "links": LINKS} for one in (text, after)]

    before, now = (
        {kind: [_without_default(spec) for spec in specs] for kind, specs in one["result"].items()}
        for one in asked([real_tool("check-network"), "configuration"], tasks)
    )

    for kind, specs in before.items():
        # Links that nobody named: `migration.changed` tells of them.
        named = [spec for spec in specs if spec.get("layer") != "default"]
        others = [spec for spec in now[kind] if spec.get("layer") != "default"]
        assert named == others, kind
    assert "LinkSpecs.net.talos.dev" in before


def _without_default(spec: dict[str, Any]) -> dict[str, Any]:
    master = spec.get("bondMaster")
    if isinstance(master, dict):
        spec["bondMaster"] = {key: one for key, one in master.items() if key not in UNSPECIFIED}
    return spec


MOVED = {
    "Machine.Env": "Environment.Variables",
    "Machine.Sysctls": "SysctlConfig",
    "Machine.Sysfs": "SysfsConfig",
    "Machine.Udev.Rules": "UdevRulesConfig.Rules",
}
"""Answers that the older form gives itself, and where the newer one gives them."""
OTHERWISE = (
    "Cluster.Discovery",
    "Cluster.SecretboxEncryptionSecret",
    "DiscoveryServiceConfigs",
    "K8sAPIServerConfig.ExtraArgs",
    "K8sAPIServerConfig.ExtraVolumes",
    "K8sAPIServerConfig.InjectDefaultAuthorizers",
    "K8sAPIServerConfig.UseAuthenticationConfig",
    "K8sAuthenticationConfig",
    "K8sAuthorizerConfigs",
    "K8sEtcdEncryptionConfig",
    "K8sExternalManifestConfigs",
    "K8sProxyConfig.UseConfigFile",
    "CRICustomizationConfigs",
    "Machine",
    "Environment",
    "NetworkCommonLinkConfigs",
    "NetworkDHCPConfigs",
    "NetworkDHCPv4Configs",
    "NetworkDHCPv6Configs",
    "NetworkHostnameConfig.AutoHostname",
    "NetworkLinkAliasConfigs",
    "NetworkVirtualIPConfigs",
    "RunDefaultDHCPOperators",
    "UnattendedInstallConfig",
)
"""Answers in another form, each with its reason:

identity, encryption keys and authorizers are answered by another question, and compared below;
logins are no arguments any more; names of manifests and of the discovery service are new; trusted
roots are mounted by the document itself; files and kube-proxy are set by documents; links are what
the test above compares; a static name needs no automatic one."""


OF_CONTROLLERS = (
    "K8sAPIServerConfig",
    "K8sAdmissionControlPluginConfigs",
    "K8sAuditPolicyConfig",
    "K8sControllerManagerConfig",
    "K8sCoreDNSConfig",
    "K8sFlannelCNIConfig",
    "K8sInlineManifestConfigs",
    "K8sProxyConfig",
    "K8sSchedulerConfig",
)
"""What Talos asks on controllers alone; workers lose it."""


@pytest.mark.parametrize("role", ROLES)
def test_talos_reads_the_same_out_of_both_forms(real_tool: RealTool, role: str) -> None:
    text = gen_config(real_tool(f"talosctl@{TALOS['1.11']}"), role, "1.11")
    after = written(
        migrate_configuration(load_documents("node.yaml", text, "1.11"), "1.14").documents
    )

    before, now = (
        answer["meaning"]
        for answer in asked(
            [real_tool("check-meaning")], [{"configuration": one} for one in (text, after)]
        )
    )

    excepted = OTHERWISE if role == "controlplane" else (*OTHERWISE, *OF_CONTROLLERS)
    differing = [
        path
        for path in _differing(before, now)
        if not f"{path}.".startswith(tuple(f"{one}." for one in excepted))
    ]
    assert differing == []
    for old, new in MOVED.items():
        assert _at(before, old) == _at(now, new), old
    assert _at(now, "UnattendedInstallConfig.InstallerImage") == IMAGE
    if role == "controlplane":
        secret = _at(before, "Cluster.SecretboxEncryptionSecret")
        assert secret in json.dumps(_at(now, "K8sEtcdEncryptionConfig"))
        assert [
            k8s_authorizer_config["Type"] for k8s_authorizer_config in now["K8sAuthorizerConfigs"]
        ] == ["Node", "RBAC", "Webhook"]
        assert sorted(
            k8s_external_manifest_config["URL"]
            for k8s_external_manifest_config in now["K8sExternalManifestConfigs"]
        ) == sorted(
            k8s_external_manifest_config["URL"]
            for k8s_external_manifest_config in before["K8sExternalManifestConfigs"]
        )


def _differing(before: Any, now: Any, path: str = "") -> list[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            found
            for key in sorted({*before, *now})
            for found in _differing(
                before.get(key), now.get(key), f"{path}.{key}" if path else str(key)
            )
        ]
    return [] if before == now else [path]


def _at(meaning: Any, path: str) -> Any:
    for step in path.split("."):
        meaning = meaning.get(step) if isinstance(meaning, dict) else None
    return meaning
