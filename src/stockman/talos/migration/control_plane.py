"""Contract 1.14: Kubernetes settings of machines and of the control plane as documents."""

from __future__ import annotations

from stockman.model.pattern import pattern
from stockman.talos.documents import as_mapping, as_mappings, as_text, as_texts
from stockman.talos.migration.draft import (
    ConfigDraft,
    EditNature,
    Plain,
    decode_base64,
    select_fields,
)
from stockman.talos.migration.system import document_name

_OIDC = "oidc-"
_ANONYMOUS = "anonymous-auth"
_BLOCKING_ARGUMENTS = ("authentication-config", "authorization-config", "authorization-mode")
_BLOCKING_PREFIX = "authorization-webhook-"
_UNSUPPORTED = {
    "oidc-ca-file": "a structured configuration contains the certificate instead of a file",
    "oidc-signing-algs": "a structured configuration accepts every algorithm",
}
ANONYMOUS_HEALTH: Plain = {
    "conditions": [{"path": "/livez"}, {"path": "/readyz"}, {"path": "/healthz"}],
    "enabled": True,
}
"""Anonymous clients may only read the health of the API."""


def argument_obstacle(arguments: Plain, *, keep_oidc: bool) -> str | None:
    """Return why a KubeAPIServerConfig cannot have the arguments; None: it can."""
    for name in arguments:
        if name in _BLOCKING_ARGUMENTS or name.startswith(_BLOCKING_PREFIX):
            return f"Talos refuses the argument {name} in a KubeAPIServerConfig"
        if name in _UNSUPPORTED:
            return f"the argument {name}: {_UNSUPPORTED[name]}"
        if name.startswith(_OIDC) and keep_oidc:
            return f"the argument {name} is kept, but a KubeAPIServerConfig refuses it"
    return None


def remaining_arguments(arguments: Plain) -> Plain:
    """Return the arguments that stay arguments."""
    return {
        name: value
        for name, value in arguments.items()
        if not name.startswith(_OIDC) and name != _ANONYMOUS
    }


def configures_authentication(arguments: Plain) -> bool:
    return len(remaining_arguments(arguments)) != len(arguments)


def authentication_configuration(arguments: Plain, *, adopt: bool) -> Plain:
    """Return the structured configuration equivalent to the arguments.

    Without `adopt` anonymous clients are rejected, as with the arguments.
    """
    anonymous: Plain = {"enabled": _single_argument(arguments, _ANONYMOUS) == "true"}
    if adopt and _ANONYMOUS not in arguments:
        anonymous = ANONYMOUS_HEALTH
    return {"anonymous": anonymous, "jwt": _jwt_authenticators(arguments)}


def _jwt_authenticators(arguments: Plain) -> list[object]:
    issuer = _single_argument(arguments, "oidc-issuer-url")
    if not issuer:
        return []
    claim = _single_argument(arguments, "oidc-username-claim") or "sub"
    mappings: Plain = {
        "username": {"claim": claim, "prefix": _prefix(arguments, issuer, claim)},
    }
    groups = _single_argument(arguments, "oidc-groups-claim")
    if groups:
        prefix = _single_argument(arguments, "oidc-groups-prefix")
        mappings["groups"] = {"claim": groups, "prefix": prefix}
    login: Plain = {
        "issuer": {"url": issuer, "audiences": [_single_argument(arguments, "oidc-client-id")]},
        "claimMappings": mappings,
    }
    rules = [_rule(claim) for claim in _list_argument(arguments, "oidc-required-claim")]
    if rules:
        login["claimValidationRules"] = rules
    return [login]


def _prefix(arguments: Plain, issuer: str, claim: str) -> str:
    """Return the prefix of user names: none for `-`, and none by default for e-mail addresses."""
    prefix = _single_argument(arguments, "oidc-username-prefix")
    if prefix:
        return "" if prefix == "-" else prefix
    return "" if claim == "email" else f"{issuer}#"


def _rule(claim: str) -> Plain:
    name, _, value = claim.partition("=")
    return {"claim": name, "requiredValue": value}


def _single_argument(arguments: Plain, name: str) -> str:
    value = arguments.get(name)
    return as_texts(value)[-1] if isinstance(value, list) and value else as_text(value)


def _list_argument(arguments: Plain, name: str) -> list[str]:
    value = arguments.get(name)
    values = as_texts(value) if isinstance(value, list) else [as_text(value)]
    return [item for value in values for item in value.split(",") if item]


_POD = ("image", "extraArgs", "env", "resources")
_NODE: Plain = {"type": "Node", "name": "node"}
_RBAC: Plain = {"type": "RBAC", "name": "rbac"}


def migrate_control_plane(draft: ConfigDraft) -> None:
    _keys(draft)
    port_is_free = _api_server(draft)
    _endpoint(draft, port_is_free=port_is_free)
    _program(draft, "controllerManager", "KubeControllerManagerConfig")
    _program(draft, "scheduler", "KubeSchedulerConfig", "config")
    _proxy(draft)
    _names(draft)
    _manifests(draft)
    _talos_access(draft)


def migrate_worker_endpoint(draft: ConfigDraft) -> None:
    """Migrate name and endpoint of the cluster on a machine without an API server."""
    draft.take("cluster.controlPlane.localAPIServerPort", "workers ignore it", EditNature.REMOVED)
    _endpoint(draft, port_is_free=True)


def _endpoint(draft: ConfigDraft, *, port_is_free: bool) -> None:
    name, section = draft.get("cluster.clusterName"), draft.section("cluster.controlPlane")
    if not (name or section):
        return
    if not draft.fragment and not (name and section.get("endpoint")):
        draft.keep(
            "cluster.controlPlane",
            why="a KubeClusterConfig needs a name and an endpoint",
            fix="set cluster.clusterName and cluster.controlPlane.endpoint",
        )
        return
    if not port_is_free:
        return
    reason = "name and endpoint of the cluster move to KubeClusterConfig"
    _service_account(draft)
    draft.take("cluster.clusterName", reason)
    draft.take("cluster.controlPlane", reason)
    fields = select_fields({"clusterName": name, **section}, "clusterName", "endpoint")
    required = {key: value for key, value in fields.items() if value}
    draft.put("KubeClusterConfig", required, reason)


def _keys(draft: ConfigDraft) -> None:
    reason = "the CA of the aggregation layer moves to KubeAggregatorCAConfig, in plain PEM"
    pair = draft.take_section("cluster.aggregatorCA", reason)
    if pair:
        issuing = {"cert": decode_base64(pair.get("crt")), "key": decode_base64(pair.get("key"))}
        draft.put("KubeAggregatorCAConfig", {"issuingCA": issuing}, reason)
    reason = "keys that encrypt secrets in etcd move to KubeEtcdEncryptionConfig"
    providers = []
    # Kubernetes encrypts with the first one; names and order are those that Talos used.
    for path, provider, name in (
        ("cluster.secretboxEncryptionSecret", "secretbox", "key2"),
        ("cluster.aescbcEncryptionSecret", "aescbc", "key1"),
    ):
        secret = draft.take(path, reason)
        if secret:
            providers.append({provider: {"keys": [{"name": name, "secret": secret}]}})
    if providers:
        resources = [{"providers": providers, "resources": ["secrets"]}]
        draft.put("KubeEtcdEncryptionConfig", {"config": {"resources": resources}}, reason)
    _service_account(draft)


def _service_account(draft: ConfigDraft) -> None:
    endpoint = draft.get("cluster.controlPlane.endpoint")
    if not endpoint or not draft.has("cluster.serviceAccount"):
        return
    reason = "the service account key moves to KubeServiceAccountConfig, in plain PEM"
    key = draft.take_section("cluster.serviceAccount", reason).get("key")
    issuer = {"privateKey": decode_base64(key), "issuerURL": endpoint}
    draft.put("KubeServiceAccountConfig", {"issuer": issuer}, reason)


def _api_server(draft: ConfigDraft) -> bool:
    """Migrate the API server; False: it stays, and so does its port."""
    section = draft.section("cluster.apiServer")
    port = draft.get("cluster.controlPlane.localAPIServerPort")
    if not section:
        if port and draft.fragment:
            draft.put(
                "KubeAPIServerConfig", {"apiPort": port}, "the port moves with the API server"
            )
        return not port or draft.fragment
    arguments = as_mapping(section.get("extraArgs"))
    why = _pod_obstacle(section, draft) or argument_obstacle(arguments, keep_oidc=draft.keep_oidc)
    if why is not None:
        draft.keep(
            "cluster.apiServer", why=why, fix="keep it, or remove the cause and migrate again"
        )
        return not port
    reason = "the API server moves to KubeAPIServerConfig"
    draft.take("cluster.apiServer", reason)
    fields = select_fields(section, *_POD, certExtraSANs="certSANs")
    remaining = remaining_arguments(arguments)
    if remaining:
        fields["extraArgs"] = remaining
    else:
        fields.pop("extraArgs", None)
    if port:
        fields["apiPort"] = port
    if not draft.fragment and not draft.adopt:
        # Startup probes are anonymous.
        fields["startupProbes"] = False
    draft.put("KubeAPIServerConfig", fields, reason)
    _admission(draft, section)
    _authorizers(draft, section)
    if configures_authentication(arguments) or not draft.fragment:
        adopts = draft.adopt and not draft.fragment
        draft.put(
            "KubeAuthenticationConfig",
            {"configuration": authentication_configuration(arguments, adopt=adopts)},
            "authentication moves to KubeAuthenticationConfig",
            nature=EditNature.DEFAULT if adopts else EditNature.MOVED,
        )
    return True


def _admission(draft: ConfigDraft, section: Plain) -> None:
    for plugin in as_mappings(section.get("admissionControl")):
        draft.put(
            "KubeAdmissionControlConfig",
            select_fields(plugin, "configuration"),
            "admission plugins move to KubeAdmissionControlConfig",
            name=as_text(plugin.get("name")),
        )
    if section.get("auditPolicy"):
        policy = {"configuration": section["auditPolicy"]}
        draft.put(
            "KubeAuditPolicyConfig", policy, "the audit policy moves to KubeAuditPolicyConfig"
        )


def _authorizers(draft: ConfigDraft, section: Plain) -> None:
    authorizers = as_mappings(section.get("authorizationConfig"))
    if not draft.fragment:
        # Talos added these two if they were missing; it does not add documents.
        if not any(authorizer.get("type") == "Node" for authorizer in authorizers):
            authorizers.insert(0, _NODE)
        if not any(authorizer.get("type") == "RBAC" for authorizer in authorizers):
            authorizers.insert(1, _RBAC)
    for authorizer in authorizers:
        draft.put(
            "KubeAuthorizerConfig",
            select_fields(authorizer, "type", "webhook"),
            "authorizers move to KubeAuthorizerConfig",
            name=as_text(authorizer.get("name")),
        )


def _program(draft: ConfigDraft, name: str, kind: str, *more: str) -> None:
    section = draft.section(f"cluster.{name}")
    switch = f"machine.controlPlane.{name}"
    if not section and not draft.has(switch):
        return
    why = _pod_obstacle(section, draft)
    if why is not None:
        draft.keep(f"cluster.{name}", why=why, fix="keep it, or remove the cause and migrate again")
        return
    reason = f"cluster.{name} moves to {kind}"
    draft.take(f"cluster.{name}", reason)
    enabled = _enabled(as_mapping(draft.take(switch, reason)))
    if draft.get("machine.controlPlane") == {}:
        draft.take("machine.controlPlane", "it is empty", EditNature.REMOVED)
    fields = enabled | select_fields(section, *_POD, *more)
    draft.put(kind, fields, reason)


def _enabled(section: Plain) -> Plain:
    """Return `disabled` as the field `enabled`; empty if it is not set."""
    off = section.get("disabled")
    return {} if off is None else {"enabled": not off}


def _pod_obstacle(section: Plain, draft: ConfigDraft) -> str | None:
    if section.get("extraVolumes"):
        return "no document supports extra volumes"
    if not draft.fragment and not section.get("image"):
        return "the document needs an image, and this one uses that of the Talos version"
    return None


def _proxy(draft: ConfigDraft) -> None:
    section = draft.section("cluster.proxy")
    if not section:
        return
    why = None
    if section.get("extraArgs"):
        why = "a KubeProxyConfig configures kube-proxy by a file, which overrides arguments"
    elif not draft.fragment and not section.get("image") and section.get("disabled") is not True:
        why = "the document needs an image, and this one uses that of the Talos version"
    if why is not None:
        draft.keep("cluster.proxy", why=why, fix="set it in the `config` of a KubeProxyConfig")
        return
    reason = "kube-proxy moves to KubeProxyConfig"
    draft.take("cluster.proxy", reason)
    enabled = _enabled(section)
    draft.put("KubeProxyConfig", enabled | select_fields(section, "image", "mode"), reason)


def _names(draft: ConfigDraft) -> None:
    reason = "CoreDNS moves to KubeCoreDNSConfig"
    section = draft.take_section("cluster.coreDNS", reason)
    enabled = _enabled(section)
    fields = enabled | select_fields(section, "image")
    draft.put("KubeCoreDNSConfig", fields, reason)


def _manifests(draft: ConfigDraft) -> None:
    reason = "external manifests move to KubeExternalManifestConfig"
    taken = {name for kind, name in draft.configuration if kind == "KubeExternalManifestConfig"}
    headers = draft.take_section("cluster.extraManifestHeaders", reason)
    common: Plain = {"headers": headers} if headers else {}
    for key in [key for key in draft.configuration if key[0] == "KubeExternalManifestConfig"]:
        if common and key[1].startswith("custom-cni"):
            draft.put(key[0], common, reason, name=key[1])
    for url in as_texts(draft.take("cluster.extraManifests", reason)):
        last = url.rstrip("/").rpartition("/")[2]
        stem = last.removesuffix(".yaml").removesuffix(".yml")
        draft.put(
            "KubeExternalManifestConfig",
            {"url": url, **common},
            reason,
            name=document_name(stem, taken),
        )
    inline = as_mappings(draft.get("cluster.inlineManifests"))
    if not all(NAME.fullmatch(as_text(manifest.get("name"))) for manifest in inline):
        draft.keep(
            "cluster.inlineManifests",
            why="names in KubeInlineManifestConfig have only lower-case letters, digits, . and -",
            fix="rename the manifests",
        )
        return
    reason = "inline manifests move to KubeInlineManifestConfig"
    draft.take("cluster.inlineManifests", reason)
    for manifest in inline:
        document = {"manifest": manifest.get("contents", "")}
        draft.put("KubeInlineManifestConfig", document, reason, name=as_text(manifest.get("name")))


def _talos_access(draft: ConfigDraft) -> None:
    reason = "access of pods to the Talos API moves to KubeTalosAPIAccessConfig"
    section = draft.take_section("machine.features.kubernetesTalosAPIAccess", reason)
    if section.get("enabled") is True or draft.fragment:
        fields = select_fields(section, "allowedRoles", "allowedKubernetesNamespaces")
        draft.put("KubeTalosAPIAccessConfig", fields, reason)


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
    pair = draft.take_section("cluster.ca", reason)
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
    draft.put("KubeAPIServerCAConfig", fields, reason)


def _kubeprism(draft: ConfigDraft) -> None:
    reason = "KubePrism moves to KubePrismConfig"
    section = draft.take_section("machine.features.kubePrism", reason)
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
