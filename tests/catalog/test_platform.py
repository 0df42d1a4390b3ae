"""What single components render, where a mistake would show only in a cluster."""

from __future__ import annotations

import json

import pytest
import yaml

from stockman.catalog.objects import merge_values
from stockman.catalog.proxmox_config import secret_name
from stockman.catalog.selection import select_components
from stockman.model.problem import Problems
from stockman.planning.access.desired import list_desired_tokens
from stockman.rendering.repository import RenderedRepository
from stockman.steps.kubernetes.cel import evaluate_condition
from tests.catalog.estates import MATERIALS, complaints, rendered, wanted
from tests.catalog.everything import EVERYTHING
from tests.catalog.looking import named, objects, text, values


@pytest.fixture(scope="module")
def everything() -> RenderedRepository:
    return rendered(EVERYTHING, preset="fifteen-node")


def test_no_release_holds_anything_confidential(everything: RenderedRepository) -> None:
    for release in objects(everything, "HelmRelease"):
        content = json.dumps(release)
        assert "token_secret" not in content
        assert "file:" not in content


def test_releases_have_the_names_that_their_conditions_look_for(
    everything: RenderedRepository,
) -> None:
    for release, name in {
        "talos-ccm": "talos-cloud-controller-manager",
        "proxmox-ccm": "proxmox-cloud-controller-manager",
        "proxmox-csi": "proxmox-csi-plugin",
        "karpenter": "karpenter-provider-proxmox",
        "cloudflare-dns": "cloudflare-dns",
    }.items():
        assert values(everything, release)["fullnameOverride"] == name


def test_cgroups_are_left_to_talos_under_the_key_that_the_chart_reads() -> None:
    chart_values = values(rendered(), "cilium")

    assert chart_values["cgroup"] == {"autoMount": {"enabled": False}, "hostRoot": "/sys/fs/cgroup"}
    assert "SYS_MODULE" not in chart_values["securityContext"]["capabilities"]["ciliumAgent"]


def test_spire_runs_where_its_agents_may_use_the_network_of_the_host(
    everything: RenderedRepository,
) -> None:
    spire = values(everything, "cilium")["authentication"]["mutual"]["spire"]

    assert spire["install"]["namespace"] == "kube-system"
    assert spire["install"]["existingNamespace"] is True
    assert spire["install"]["server"] == {"dataStorage": {"enabled": True}}


def test_cilium_does_not_wait_for_what_waits_for_it(everything: RenderedRepository) -> None:
    spec = named(everything, "HelmRelease", "cilium")["spec"]

    assert spec["install"] == spec["upgrade"] == {"disableWait": True}
    assert "install" not in named(rendered(), "HelmRelease", "cilium")["spec"]


def test_nothing_is_encrypted_or_announced_twice_by_default() -> None:
    chart_values = values(rendered(), "cilium")

    assert "encryption" not in chart_values
    assert "authentication" not in chart_values
    assert chart_values["l2announcements"] == {"enabled": True}
    assert "bgpControlPlane" not in chart_values


def test_the_chart_of_envoy_brings_no_definitions_of_another_channel(
    everything: RenderedRepository,
) -> None:
    assert values(everything, "envoy-gateway")["crds"] == {"enabled": False}
    own = named(everything, "Kustomization", "envoy-gateway-manifests")["spec"]
    assert own["path"].endswith("/crds/generated")
    assert own["prune"] is False
    standard = named(everything, "Kustomization", "gateway-api-manifests")["spec"]
    assert standard["path"] == "./config/crd/standard"


def test_talos_backup_gets_the_variables_that_it_reads(everything: RenderedRepository) -> None:
    chart_values = {
        item["name"]: item["value"] for item in values(everything, "talos-backup")["env"]
    }

    assert sorted(chart_values) == [
        "AGE_X25519_PUBLIC_KEY",
        "AWS_REGION",
        "BUCKET",
        "CLUSTER_NAME",
        "CUSTOM_S3_ENDPOINT",
        "S3_PREFIX",
        "USE_PATH_STYLE",
    ]
    assert chart_values["USE_PATH_STYLE"] == "false"


def test_keys_of_the_bucket_have_another_name_than_what_talos_makes(
    everything: RenderedRepository,
) -> None:
    assert values(everything, "talos-backup")["envSecretName"] == "talos-backup-bucket"
    assert not [
        item for item in objects(everything, "Secret") if "talos-backup-secrets" in str(item)
    ]


def test_backups_are_not_made_where_others_may_ask_for_roles(
    everything: RenderedRepository,
) -> None:
    home = named(everything, "Namespace", "talos-backup")

    assert home["metadata"]["name"] not in ("kube-system", "system-upgrade")


def test_tuppr_upgrades_one_controller_at_a_time_and_never_by_force(
    everything: RenderedRepository,
) -> None:
    plans = {item["metadata"]["name"]: item["spec"] for item in objects(everything, "TalosUpgrade")}

    assert plans["controllers"]["parallelism"] == 1
    assert all("force" not in plan["policy"] for plan in plans.values())
    assert all(plan["talos"]["version"].startswith("v") for plan in plans.values())
    (kubernetes,) = objects(everything, "KubernetesUpgrade")
    assert kubernetes["spec"]["kubernetes"]["version"].startswith("v")


def test_tuppr_checks_the_gates_of_upgrades() -> None:
    gate = {
        "name": "databases",
        "api_version": "postgresql.cnpg.io/v1",
        "kind": "Cluster",
        "expr": "status.phase == 'Cluster in healthy state'",
        "namespace": "data",
        "selector": "app=shop, tier in (a, b), !legacy, stage!=test, keep",
        "timeout": "15m",
    }
    files = rendered({"upgrade": {"engine": "tuppr", "gates": [gate]}})

    for kind in ("TalosUpgrade", "KubernetesUpgrade"):
        for item in objects(files, kind):
            assert item["spec"]["healthChecks"][-1] == {
                "apiVersion": "postgresql.cnpg.io/v1",
                "kind": "Cluster",
                "expr": "status.phase == 'Cluster in healthy state'",
                "namespace": "data",
                "timeout": "15m",
                "description": "databases",
                "labelSelector": {
                    "matchExpressions": [
                        {"key": "app", "operator": "In", "values": ["shop"]},
                        {"key": "tier", "operator": "In", "values": ["a", "b"]},
                        {"key": "legacy", "operator": "DoesNotExist"},
                        {"key": "stage", "operator": "NotIn", "values": ["test"]},
                        {"key": "keep", "operator": "Exists"},
                    ]
                },
            }


def test_upgrades_are_apart_from_the_release_that_brings_their_kinds(
    everything: RenderedRepository,
) -> None:
    flux = {item["metadata"]["name"]: item["spec"] for item in objects(everything, "Kustomization")}

    assert {"name": "tuppr", "namespace": "system-upgrade"} in flux["tuppr-config"]["dependsOn"]
    assert flux["tuppr"]["wait"] is True


def test_without_tuppr_there_are_no_upgrades_in_the_repository() -> None:
    assert objects(rendered(), "TalosUpgrade") == []


def test_karpenter_has_limits_and_the_group_of_its_own_classes(
    everything: RenderedRepository,
) -> None:
    pool = named(everything, "NodePool", "default")["spec"]

    assert pool["limits"] == {"cpu": 32, "memory": "128Gi"}
    assert pool["template"]["spec"]["nodeClassRef"]["group"] == "karpenter.proxmox.sinextra.dev"
    node_class = named(everything, "ProxmoxNodeClass", "default")["spec"]
    assert not {"cores", "memoryMB", "storage"} & set(node_class)


def test_karpenter_can_make_nodes_from_a_template_of_stockman() -> None:
    more: dict[str, object] = {
        "proxmox": {"templates": [{"name": "talos", "like": "k8s-work-1"}]},
        "components": {
            "proxmox-ccm": {"enabled": True, "token_secret": "file:ccm.txt"},
            "karpenter": {
                "enabled": True,
                "storage": "local-lvm",
                "token_secret": "file:karpenter.txt",
                "settings": {
                    "like": "k8s-work-1",
                    "template": "talos",
                    "cpu_limit": 32,
                    "memory_limit": "128Gi",
                },
            },
        },
    }
    repository = rendered(more, preset="fifteen-node")

    template = named(repository, "ProxmoxUnmanagedTemplate", "default")["spec"]
    node_class = named(repository, "ProxmoxNodeClass", "default")["spec"]
    assert template == {"templateName": "talos-v1-11-5-99073176", "region": "pve"}
    assert node_class["instanceTemplateRef"]["kind"] == "ProxmoxUnmanagedTemplate"
    assert objects(repository, "ProxmoxTemplate") == []


def test_meta_data_of_new_nodes_is_filled_in_with_the_machine_itself() -> None:
    from stockman.catalog.karpenter.machines import _META_DATA

    content = yaml.safe_load(_META_DATA)

    assert content["provider-id"] == "{{ .ProviderID }}"
    assert ".Metadata" not in _META_DATA


def test_rook_installs_the_operator_of_the_drivers_and_the_drivers(
    everything: RenderedRepository,
) -> None:
    assert values(everything, "rook-ceph")["csi"] == {"installCsiOperator": True}
    drivers = values(everything, "ceph-csi-drivers")["drivers"]
    provisioners = {item["provisioner"] for item in objects(everything, "StorageClass")}
    assert {driver["name"] for driver in drivers.values() if driver["enabled"]} == provisioners


def test_keys_of_ceph_have_the_names_and_the_type_that_rook_expects(
    everything: RenderedRepository,
) -> None:
    login = named(everything, "Secret", "rook-csi-rbd-node")
    monitors = named(everything, "Secret", "rook-ceph-mon")

    assert sorted(login["stringData"]) == ["userID", "userKey"]
    assert {login["type"], monitors["type"]} == {"kubernetes.io/rook"}
    endpoints = named(everything, "ConfigMap", "rook-ceph-mon-endpoints")["data"]
    assert sorted(endpoints) == ["data", "mapping", "maxMonId"]


def test_every_step_of_a_ceph_volume_finds_its_key(everything: RenderedRepository) -> None:
    parameters = named(everything, "StorageClass", "ceph-rbd")["parameters"]

    for step in ("provisioner", "controller-expand", "controller-publish", "node-stage"):
        name = parameters[f"csi.storage.k8s.io/{step}-secret-name"]
        assert named(everything, "Secret", name)


def test_multus_runs_the_image_of_its_release(everything: RenderedRepository) -> None:
    spec = named(everything, "Kustomization", "multus-manifests")["spec"]

    assert spec["images"] == [
        {"name": "ghcr.io/k8snetworkplumbingwg/multus-cni", "newTag": "v4.3.0-thick"}
    ]
    pod = yaml.safe_load(spec["patches"][0]["patch"])["spec"]["template"]["spec"]
    assert pod["volumes"] == [{"name": "host-run-netns", "hostPath": {"path": "/var/run/netns/"}}]
    assert pod["containers"][0]["name"] == "kube-multus"
    names = [init_container["name"] for init_container in pod["initContainers"]]
    assert names == ["install-multus-binary", "install-cni"]


def test_networks_of_pods_stay_in_the_namespaces_that_they_name(
    everything: RenderedRepository,
) -> None:
    flux = named(everything, "Kustomization", "multus-config")["spec"]
    network = named(everything, "NetworkAttachmentDefinition", "iot")

    assert "targetNamespace" not in flux
    assert network["metadata"]["namespace"] == "default"
    plugin = json.loads(network["spec"]["config"])
    assert plugin["ipam"] == {"type": "static"}
    assert plugin["capabilities"] == {"ips": True}


def test_volumes_can_be_kept_to_some_hosts() -> None:
    options = {
        "enabled": True,
        "settings": {"classes": [{"name": "a", "storage": "zfs", "zones": ["neo"]}]},
    }
    components = {"proxmox-ccm": {"enabled": True}, "proxmox-csi": options}

    (only,) = values(rendered({"components": components}), "proxmox-csi")["storageClass"]

    (term,) = only["allowedTopologies"]
    assert term["matchLabelExpressions"] == [
        {"key": "topology.kubernetes.io/region", "values": ["pve"]},
        {"key": "topology.kubernetes.io/zone", "values": ["neo"]},
    ]


REPLICATED = {
    "proxmox-ccm": {"enabled": True},
    "proxmox-csi": {
        "enabled": True,
        "settings": {
            "classes": [
                {
                    "name": "a",
                    "storage": "zfs",
                    "replication": {"zones": ["neo", "trinity"], "schedule": "*/30"},
                }
            ]
        },
    },
}


def test_volumes_are_replicated_on_request() -> None:
    (only,) = values(rendered({"components": REPLICATED}), "proxmox-csi")["storageClass"]

    assert only["extraParameters"] == {
        "replicate": "true",
        "replicateSchedule": "*/30",
        "replicateZones": "neo,trinity",
    }


def test_replication_extends_the_role_of_the_plugin() -> None:
    def privileges(components: dict[str, object], major: int) -> set[str]:
        estate = wanted({"components": components})
        tokens = list_desired_tokens(estate, estate.proxmox[0], major)
        (role,) = next(token.roles for token in tokens if token.owner == "proxmox-csi")
        return set(role.privileges)

    plain = {"proxmox-ccm": {"enabled": True}, "proxmox-csi": {"enabled": True, "storage": "zfs"}}

    assert "VM.Migrate" not in privileges(plain, 9)
    assert privileges(REPLICATED, 8) - privileges(plain, 8) == {
        *("VM.Allocate", "VM.Clone", "VM.Config.CPU", "VM.Config.HWType", "VM.Config.Memory"),
        *("VM.Config.Options", "VM.Migrate", "VM.PowerMgmt"),
    }
    assert privileges(REPLICATED, 9) - privileges(REPLICATED, 8) == {"VM.Replicate"}


def test_images_are_shared_beside_the_mirrors_that_talos_writes() -> None:
    assert values(rendered(), "spegel")["spegel"]["prependExisting"] is True


def test_the_own_authority_outlives_the_browsers_that_trust_it() -> None:
    own = named(rendered(), "Certificate", "internal-ca")["spec"]

    assert own["duration"] == "87600h"
    assert own["privateKey"]["rotationPolicy"] == "Never"


def test_the_trial_of_volumes_uses_a_class_that_there_is() -> None:
    estate = wanted(EVERYTHING, "fifteen-node")
    assert estate.cluster is not None
    for selected_component in select_components(
        estate, estate.cluster, MATERIALS, "classic", Problems()
    ):
        if selected_component.component.name == "proxmox-csi":
            trial = selected_component.component.smoke_test_in(selected_component.context)
            assert trial is not None
            assert "'storageClassName': 'proxmox'" in str(trial.objects)
            assert secret_name(selected_component.context) == "proxmox-csi-config"


def test_conditions_follow_a_component_into_another_namespace() -> None:
    estate = wanted({"components": {"echo": {"namespace": "lab"}}})
    assert estate.cluster is not None
    for selected_component in select_components(
        estate, estate.cluster, MATERIALS, "classic", Problems()
    ):
        if selected_component.component.name == "echo":
            assert [
                each.namespace
                for each in selected_component.component.conditions(selected_component.context)
            ] == ["lab"]


@pytest.mark.parametrize(
    ("compression", "codes"), [("zstd", ["backup.uncompressed"]), ("none", [])]
)
def test_compression_that_nobody_does_is_told(compression: str, codes: list[str]) -> None:
    backup = dict(EVERYTHING["backup"]) | {"compression": compression}  # type: ignore[call-overload]

    assert complaints({"backup": backup}) == codes


def test_extra_files_of_monitoring_are_there_when_asked_for(everything: RenderedRepository) -> None:
    assert "ClusterUnreachable" in text(everything, "monitoring/rules.yaml")
    assert not [item.path for item in rendered().tree if item.path.startswith("monitoring/")]


def test_a_namespace_can_only_request_the_roles_of_its_own_components_in_talos() -> None:
    backup = {"components": {"talos-backup": {"namespace": "system-upgrade"}}}
    repository = rendered(merge_values(EVERYTHING, backup), preset="fifteen-node")
    policies = {
        policy["metadata"]["name"]: policy["spec"]
        for policy in objects(repository, "ValidatingAdmissionPolicy")
    }
    bound = {
        binding["spec"]["policyName"]: binding["spec"]["validationActions"]
        for binding in objects(repository, "ValidatingAdmissionPolicyBinding")
    }

    def allows(component: str, *roles: str) -> bool:
        (validation,) = policies[f"talos-access-{component}"]["validations"]
        account = {"spec": {"roles": list(roles)}}
        return evaluate_condition(validation["expression"], account)

    assert bound == {name: ["Deny"] for name in policies}
    assert {
        name: policy["matchConstraints"]["namespaceSelector"]["matchLabels"]
        for name, policy in policies.items()
    } == {
        "talos-access-talos-ccm": {"kubernetes.io/metadata.name": "kube-system"},
        "talos-access-talos-backup": {"kubernetes.io/metadata.name": "system-upgrade"},
        "talos-access-tuppr": {"kubernetes.io/metadata.name": "system-upgrade"},
    }
    assert allows("talos-ccm", "os:reader")
    assert not allows("talos-ccm", "os:reader", "os:admin")
    for component in ("talos-backup", "tuppr"):
        assert allows(component, "os:admin", "os:etcd:backup")
        assert not allows(component, "os:reader")


def test_kubernetes_1_29_gets_no_policy_because_it_does_not_serve_them() -> None:
    old = {
        "talos_version": "1.11.5",
        "kubernetes_version": "1.29.15",
        "components": {"talos-ccm": {"enabled": True}, "cilium": {"version": "1.18.1"}},
    }

    assert objects(rendered(old), "ValidatingAdmissionPolicy") == []
