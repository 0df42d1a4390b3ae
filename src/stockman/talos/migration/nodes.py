"""Contract 1.14: Kubernetes settings of every machine as documents."""

from __future__ import annotations

from stockman.model.pattern import pattern
from stockman.talos.migration.draft import (
    ConfigDraft,
    EditNature,
    Plain,
    as_mapping,
    as_mappings,
    as_text,
    as_texts,
    decode_base64,
    select_fields,
)
from stockman.talos.migration.system import document_name

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
_POD_SUBNET = "10.244.0.0/16"
_SERVICE_SUBNET = "10.96.0.0/12"
_CLUSTER_DOMAIN = "cluster.local"
_FLANNEL: Plain = {"backendType": "vxlan", "backendPort": 4789}
_KUBEPRISM_PORT = 7445
NAME = pattern(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def migrate_nodes(draft: ConfigDraft) -> None:
    _node(draft)
    _kubelet(draft)
    _network(draft)
    _authority(draft)
    _kubeprism(draft)
    _pods(draft)


def _node(draft: ConfigDraft) -> None:
    reason = "the Kubernetes node moves to KubeNodeConfig"
    fields: Plain = {}
    for path, field in (
        ("machine.kubelet.skipNodeRegistration", "skipNodeRegistration"),
        ("machine.kubelet.registerWithFQDN", "registerWithFQDN"),
        ("machine.kubelet.nodeIP", "nodeIP"),
        ("machine.nodeLabels", "labels"),
        ("machine.nodeAnnotations", "annotations"),
        ("machine.nodeTaints", "taints"),
    ):
        value = draft.take(path, reason)
        if value not in (None, {}):
            fields[field] = value
    schedules = draft.take("cluster.allowSchedulingOnControlPlanes", reason)
    formerly = draft.take("cluster.allowSchedulingOnMasters", reason)
    if schedules is None:
        schedules = formerly
    is_known = ("KubeNodeConfig", "") in draft.configuration
    if draft.is_controller and not draft.fragment and not is_known:
        fields["labels"] = {CONTROL_PLANE: "", **as_mapping(fields.get("labels"))}
        if schedules is not True:
            fields["taints"] = {CONTROL_PLANE: "NoSchedule", **as_mapping(fields.get("taints"))}
    elif draft.fragment and schedules is not None:
        effect: Plain = {} if schedules is True else {CONTROL_PLANE: "NoSchedule"}
        if effect:
            fields["taints"] = {**effect, **as_mapping(fields.get("taints"))}
    if fields:
        draft.put("KubeNodeConfig", fields, reason)


def _kubelet(draft: ConfigDraft) -> None:
    section = draft.section("machine.kubelet")
    if not section:
        return
    why = _kubelet_obstacle(section, draft)
    if why is not None:
        draft.keep("machine.kubelet", why=why, fix="keep it, or remove the cause and migrate again")
        return
    reason = "the kubelet moves to KubeletConfig"
    draft.take("machine.kubelet", reason)
    fields = select_fields(
        section,
        "image",
        "extraArgs",
        "clusterDNS",
        "defaultRuntimeSeccompProfileEnabled",
        config="extraConfig",
    )
    if fields:
        draft.put("KubeletConfig", fields, reason)
    provider = section.get("credentialProviderConfig")
    if provider:
        draft.put("KubeCredentialProviderConfig", {"configuration": provider}, reason)


def _kubelet_obstacle(section: Plain, draft: ConfigDraft) -> str | None:
    if section.get("extraMounts"):
        return "a KubeletConfig has no extraMounts"
    if draft.fragment:
        return None
    if section.get("disableManifestsDirectory") is not True:
        return "a KubeletConfig never reads pods from a directory, but this one may"
    if not section.get("image"):
        return "a KubeletConfig needs an image, and this one uses that of the Talos version"
    return None


def _network(draft: ConfigDraft) -> None:
    section = draft.section("cluster.network")
    if not section:
        return
    reason = "cluster networks move to KubeNetworkConfig"
    draft.take("cluster.network", reason)
    fields: Plain = select_fields(section, "dnsDomain", "podSubnets", "serviceSubnets")
    if not draft.fragment:
        fields = {
            "dnsDomain": fields.get("dnsDomain") or _CLUSTER_DOMAIN,
            "podSubnets": fields.get("podSubnets") or [_POD_SUBNET],
            "serviceSubnets": fields.get("serviceSubnets") or [_SERVICE_SUBNET],
        }
    if fields:
        draft.put("KubeNetworkConfig", fields, reason)
    if draft.is_controller:
        _plugin(draft, as_mapping(section.get("cni")))


def _plugin(draft: ConfigDraft, plugin: Plain) -> None:
    name = as_text(plugin.get("name"))
    if name == "flannel" or (not plugin and not draft.fragment):
        fields = _FLANNEL | select_fields(
            as_mapping(plugin.get("flannel")), "extraArgs", "kubeNetworkPoliciesEnabled"
        )
        draft.put("KubeFlannelCNIConfig", fields, "flannel moves to KubeFlannelCNIConfig")
    elif name == "none" and draft.fragment:
        draft.warn_change(
            "cluster.network.cni",
            "a patch that disables the CNI must now delete a document",
            why="without KubeFlannelCNIConfig Talos installs no CNI",
            fix="add `kind: KubeFlannelCNIConfig` with `$patch: delete`",
        )
    taken = {name for kind, name in draft.configuration if kind == "KubeExternalManifestConfig"}
    for url in as_texts(plugin.get("urls")):
        draft.put(
            "KubeExternalManifestConfig",
            {"url": url},
            "CNI manifests move to KubeExternalManifestConfig",
            name=document_name("custom-cni", taken),
        )


def _authority(draft: ConfigDraft) -> None:
    reason = "the Kubernetes CA moves to KubeAPIServerCAConfig, in plain PEM"
    pair = as_mapping(draft.take("cluster.ca", reason))
    accepted = as_mappings(draft.take("cluster.acceptedCAs", reason))
    trusted = [decode_base64(authority.get("crt")) for authority in accepted]
    fields: Plain = {}
    if pair.get("key"):
        fields["issuingCA"] = {
            "cert": decode_base64(pair.get("crt")),
            "key": decode_base64(pair["key"]),
        }
    elif pair.get("crt"):
        trusted.insert(0, decode_base64(pair["crt"]))
    if trusted:
        fields["acceptedCAs"] = trusted
    if fields:
        draft.put("KubeAPIServerCAConfig", fields, reason)


def _kubeprism(draft: ConfigDraft) -> None:
    reason = "KubePrism moves to KubePrismConfig"
    section = as_mapping(draft.take("machine.features.kubePrism", reason))
    if section.get("enabled") is True or (draft.fragment and section.get("port")):
        port = section.get("port") or _KUBEPRISM_PORT
        draft.put("KubePrismConfig", {"port": port}, reason)


def _pods(draft: ConfigDraft) -> None:
    pods = as_mappings(draft.get("machine.pods"))
    if not pods:
        return
    names = [_pod_name(pod) for pod in pods]
    if len(set(names)) != len(names) or not all(NAME.fullmatch(name) for name in names):
        draft.keep(
            "machine.pods",
            why="every KubeStaticPodConfig needs a unique name, which these pods do not have",
            fix="give each pod a metadata.name of lower-case letters, digits, dots and dashes",
        )
        return
    reason = "static pods move to KubeStaticPodConfig"
    draft.take("machine.pods", reason)
    for name, pod in zip(names, pods, strict=True):
        draft.put("KubeStaticPodConfig", {"pod": pod}, reason, name=name)


def _pod_name(pod: Plain) -> str:
    data = as_mapping(pod.get("metadata"))
    return f"{as_text(data.get('namespace')) or 'default'}-{as_text(data.get('name')) or 'default'}"


def drop_controller_settings(draft: ConfigDraft) -> None:
    """Remove settings from a worker that only the control plane reads."""
    for path in (
        "cluster.aggregatorCA",
        "cluster.serviceAccount",
        "cluster.secretboxEncryptionSecret",
        "cluster.aescbcEncryptionSecret",
        "cluster.apiServer",
        "cluster.controllerManager",
        "cluster.scheduler",
        "cluster.proxy",
        "cluster.coreDNS",
        "cluster.extraManifests",
        "cluster.extraManifestHeaders",
        "cluster.inlineManifests",
        "machine.controlPlane",
    ):
        draft.take(path, "workers ignore it", EditNature.REMOVED)
