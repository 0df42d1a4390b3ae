"""Contract 1.14: the programs of the control plane, as documents."""

from __future__ import annotations

from stockman.talos.migration.authentication import (
    authentication,
    other_arguments,
    refused_argument,
    says_who_logs_in,
)
from stockman.talos.migration.draft import Draft
from stockman.talos.migration.edit import Nature, Plain
from stockman.talos.migration.nodes import NAME
from stockman.talos.migration.system import document_name
from stockman.talos.migration.values import chosen, mapping, mappings, text, texts, unpacked

_POD = ("image", "extraArgs", "env", "resources")
_NODE: Plain = {"type": "Node", "name": "node"}
_RBAC: Plain = {"type": "RBAC", "name": "rbac"}


def control_plane(draft: Draft) -> None:
    _keys(draft)
    port_is_free = _api_server(draft)
    _endpoint(draft, port_is_free=port_is_free)
    _program(draft, "controllerManager", "KubeControllerManagerConfig")
    _program(draft, "scheduler", "KubeSchedulerConfig", "config")
    _proxy(draft)
    _names(draft)
    _manifests(draft)
    _talos_access(draft)


def endpoint_of_worker(draft: Draft) -> None:
    """Name and endpoint of the cluster on a machine without an API server."""
    draft.take("cluster.controlPlane.localAPIServerPort", "workers do not read it", Nature.REMOVED)
    _endpoint(draft, port_is_free=True)


def _endpoint(draft: Draft, *, port_is_free: bool) -> None:
    name, section = draft.get("cluster.clusterName"), draft.section("cluster.controlPlane")
    if not (name or section):
        return
    if not draft.fragment and not (name and section.get("endpoint")):
        draft.kept(
            "cluster.controlPlane",
            why="a KubeClusterConfig needs a name and an endpoint",
            fix="give cluster.clusterName and cluster.controlPlane.endpoint",
        )
        return
    if not port_is_free:
        return
    reason = "name and endpoint of the cluster are a KubeClusterConfig"
    _service_account(draft)
    draft.take("cluster.clusterName", reason)
    draft.take("cluster.controlPlane", reason)
    fields = chosen({"clusterName": name, **section}, "clusterName", "endpoint")
    given = {key: value for key, value in fields.items() if value}
    if given:
        draft.put("KubeClusterConfig", given, reason)


def _keys(draft: Draft) -> None:
    reason = "the authority of the aggregation layer is a KubeAggregatorCAConfig, in plain PEM"
    pair = mapping(draft.take("cluster.aggregatorCA", reason))
    if pair:
        issuing = {"cert": unpacked(pair.get("crt")), "key": unpacked(pair.get("key"))}
        draft.put("KubeAggregatorCAConfig", {"issuingCA": issuing}, reason)
    reason = "keys that encrypt secrets in etcd are a KubeEtcdEncryptionConfig"
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


def _service_account(draft: Draft) -> None:
    endpoint = draft.get("cluster.controlPlane.endpoint")
    if not endpoint or not draft.has("cluster.serviceAccount"):
        return
    reason = "the key of service accounts is a KubeServiceAccountConfig, in plain PEM"
    key = mapping(draft.take("cluster.serviceAccount", reason)).get("key")
    issuer = {"privateKey": unpacked(key), "issuerURL": endpoint}
    draft.put("KubeServiceAccountConfig", {"issuer": issuer}, reason)


def _api_server(draft: Draft) -> bool:
    """Move the API server; False: it stays, and so does the port that it listens on."""
    section = draft.section("cluster.apiServer")
    port = draft.get("cluster.controlPlane.localAPIServerPort")
    if not section:
        if port and draft.fragment:
            draft.put("KubeAPIServerConfig", {"apiPort": port}, "the port moves with its server")
        return not port or draft.fragment
    arguments = mapping(section.get("extraArgs"))
    why = _pod_obstacle(section, draft) or refused_argument(arguments, keep_oidc=draft.keep_oidc)
    if why is not None:
        draft.kept(
            "cluster.apiServer", why=why, fix="leave it there, or make do without and migrate again"
        )
        return not port
    reason = "the API server is set in a KubeAPIServerConfig"
    draft.take("cluster.apiServer", reason)
    fields = chosen(section, *_POD, certExtraSANs="certSANs")
    others = other_arguments(arguments)
    if others:
        fields["extraArgs"] = others
    else:
        fields.pop("extraArgs", None)
    if port:
        fields["apiPort"] = port
    if not draft.fragment and not draft.adopt:
        # Probes at start do not log in.
        fields["startupProbes"] = False
    if fields:
        draft.put("KubeAPIServerConfig", fields, reason)
    _admission(draft, section)
    _authorizers(draft, section)
    if says_who_logs_in(arguments) or not draft.fragment:
        adopts = draft.adopt and not draft.fragment
        draft.put(
            "KubeAuthenticationConfig",
            {"configuration": authentication(arguments, adopt=adopts)},
            "who may log in is a KubeAuthenticationConfig",
            nature=Nature.DEFAULT if adopts else Nature.MOVED,
        )
    return True


def _admission(draft: Draft, section: Plain) -> None:
    for plugin in mappings(section.get("admissionControl")):
        draft.put(
            "KubeAdmissionControlConfig",
            chosen(plugin, "configuration"),
            "every admission plugin is a KubeAdmissionControlConfig",
            name=text(plugin.get("name")),
        )
    if section.get("auditPolicy"):
        policy = {"configuration": section["auditPolicy"]}
        draft.put("KubeAuditPolicyConfig", policy, "the audit policy is a KubeAuditPolicyConfig")


def _authorizers(draft: Draft, section: Plain) -> None:
    given = mappings(section.get("authorizationConfig"))
    if not draft.fragment:
        # Talos added these two where they were missing; documents are taken as they are.
        if not any(one.get("type") == "Node" for one in given):
            given.insert(0, _NODE)
        if not any(one.get("type") == "RBAC" for one in given):
            given.insert(1, _RBAC)
    for one in given:
        draft.put(
            "KubeAuthorizerConfig",
            chosen(one, "type", "webhook"),
            "every authorizer is a KubeAuthorizerConfig",
            name=text(one.get("name")),
        )


def _program(draft: Draft, name: str, kind: str, *more: str) -> None:
    section = draft.section(f"cluster.{name}")
    switch = f"machine.controlPlane.{name}"
    if not section and not draft.has(switch):
        return
    why = _pod_obstacle(section, draft)
    if why is not None:
        draft.kept(
            f"cluster.{name}", why=why, fix="leave it there, or make do without and migrate again"
        )
        return
    reason = f"cluster.{name} is a {kind}"
    draft.take(f"cluster.{name}", reason)
    off = mapping(draft.take(switch, reason)).get("disabled")
    if draft.get("machine.controlPlane") == {}:
        draft.take("machine.controlPlane", "it is empty", Nature.REMOVED)
    enabled: Plain = {} if off is None else {"enabled": not off}
    fields = enabled | chosen(section, *_POD, *more)
    if fields:
        draft.put(kind, fields, reason)


def _pod_obstacle(section: Plain, draft: Draft) -> str | None:
    if section.get("extraVolumes"):
        return "no document mounts extra volumes into it"
    if not draft.fragment and not section.get("image"):
        return "the document needs an image, and this one has that of the Talos version"
    return None


def _proxy(draft: Draft) -> None:
    section = draft.section("cluster.proxy")
    if not section:
        return
    why = None
    if section.get("extraArgs"):
        why = (
            "a KubeProxyConfig sets kube-proxy by a file, beside which arguments may have no effect"
        )
    elif not draft.fragment and not section.get("image") and section.get("disabled") is not True:
        why = "the document needs an image, and this one has that of the Talos version"
    if why is not None:
        draft.kept("cluster.proxy", why=why, fix="say it in the `config` of a KubeProxyConfig")
        return
    reason = "kube-proxy is a KubeProxyConfig"
    draft.take("cluster.proxy", reason)
    off = section.get("disabled")
    enabled: Plain = {} if off is None else {"enabled": not off}
    draft.put("KubeProxyConfig", enabled | chosen(section, "image", "mode"), reason)


def _names(draft: Draft) -> None:
    reason = "CoreDNS is a KubeCoreDNSConfig"
    section = mapping(draft.take("cluster.coreDNS", reason))
    off = section.get("disabled")
    enabled: Plain = {} if off is None else {"enabled": not off}
    fields = enabled | chosen(section, "image")
    if fields:
        draft.put("KubeCoreDNSConfig", fields, reason)


def _manifests(draft: Draft) -> None:
    reason = "every manifest from elsewhere is a KubeExternalManifestConfig"
    taken = {name for kind, name in draft.configuration if kind == "KubeExternalManifestConfig"}
    headers = mapping(draft.take("cluster.extraManifestHeaders", reason))
    common: Plain = {"headers": headers} if headers else {}
    for key in [key for key in draft.configuration if key[0] == "KubeExternalManifestConfig"]:
        if common and key[1].startswith("custom-cni"):
            draft.put(key[0], common, reason, name=key[1])
    for url in texts(draft.take("cluster.extraManifests", reason)):
        last = url.rstrip("/").rpartition("/")[2]
        stem = last.removesuffix(".yaml").removesuffix(".yml")
        draft.put(
            "KubeExternalManifestConfig",
            {"url": url, **common},
            reason,
            name=document_name(stem, taken),
        )
    inline = mappings(draft.get("cluster.inlineManifests"))
    if not all(NAME.fullmatch(text(one.get("name"))) for one in inline):
        draft.kept(
            "cluster.inlineManifests",
            why="a KubeInlineManifestConfig takes names of small letters, digits, dots and dashes",
            fix="rename the manifests",
        )
        return
    reason = "every manifest written out is a KubeInlineManifestConfig"
    draft.take("cluster.inlineManifests", reason)
    for one in inline:
        manifest = {"manifest": one.get("contents", "")}
        draft.put("KubeInlineManifestConfig", manifest, reason, name=text(one.get("name")))


def _talos_access(draft: Draft) -> None:
    reason = "the Talos API is open to pods where there is a KubeTalosAPIAccessConfig"
    section = mapping(draft.take("machine.features.kubernetesTalosAPIAccess", reason))
    if section.get("enabled") is True or draft.fragment:
        fields = chosen(section, "allowedRoles", "allowedKubernetesNamespaces")
        if fields:
            draft.put("KubeTalosAPIAccessConfig", fields, reason)
