"""Rules of the `cluster` section."""

from __future__ import annotations

from stockman.talos.validation.formats import endpoint_error, is_dns_name, parse_request_url
from stockman.talos.validation.report import ConfigValue
from stockman.talos.validation.shared_rules import check_node_subnets

AUTHORIZERS = ("Node", "RBAC", "Webhook")
_CNIS = ("flannel", "custom", "none")
_DISCOVERY_SERVICE = "https://discovery.talos.dev/"


def check_cluster(cluster: ConfigValue, *, controls: bool) -> None:
    """Check the `cluster` section; `controls`: whether the machine is a control plane."""
    if not cluster.present:
        cluster.error(
            "machine.section",
            "the section cluster is missing",
            why="a machine without it belongs to no cluster",
            fix="use it from the configuration of another machine of the cluster",
        )
        return
    if not _check_endpoint(cluster):
        return
    _check_domain(cluster)
    _check_cloud_provider(cluster["externalCloudProvider"])
    etcd = cluster["etcd"]
    if etcd.present and controls:
        _check_etcd(etcd)
    elif etcd.present:
        etcd.error(
            "machine.control-plane-only",
            "cluster.etcd is for control planes only",
            why="this machine is a worker, and runs no etcd",
            fix="remove it",
        )
    if not controls and cluster.down("ca.key").text:
        cluster.down("ca.key").error(
            "machine.worker-secret",
            "a worker has the private key of the Kubernetes CA",
            why="an attacker on the worker could impersonate anyone in the cluster",
            fix="leave cluster.ca.key of workers empty",
        )
    _check_inline_manifests(cluster["inlineManifests"])
    _check_discovery(cluster)
    _check_authorization(cluster["apiServer"])
    for name in ("apiServer", "controllerManager", "scheduler"):
        check_resources(cluster[name]["resources"])


def _check_endpoint(cluster: ConfigValue) -> bool:
    """Whether the endpoint is present where it is required: otherwise Talos stops checking."""
    control, endpoint = cluster["controlPlane"], cluster.down("controlPlane.endpoint")
    account = cluster["serviceAccount"]
    if cluster.minor < 14 or control.present:
        if not endpoint.present:
            endpoint.error(
                "machine.endpoint",
                "cluster.controlPlane.endpoint is missing",
                why="the machine needs it to reach the Kubernetes API",
                fix="set its URL: https://, `cluster_api_addr` and :6443",
            )
            return False
        check_endpoint(endpoint)
    if cluster.minor >= 14 and account.present and not endpoint.present:
        account.error(
            "machine.endpoint",
            "cluster.serviceAccount requires cluster.controlPlane.endpoint",
            why="the issuer of tokens is derived from the endpoint",
            fix="set the endpoint too, or use a KubeServiceAccountConfig document instead",
        )
    return True


def check_endpoint(endpoint: ConfigValue) -> None:
    wrong = endpoint_error(endpoint.text)
    if wrong:
        endpoint.error(
            "machine.endpoint",
            f"{endpoint.name} is not a URL of the Kubernetes API",
            why=wrong,
            fix="use a URL such as https://10.42.0.10:6443",
        )


def _check_domain(cluster: ConfigValue) -> None:
    domain = cluster.down("network.dnsDomain")
    if domain.text and not is_dns_name(domain.text):
        domain.error(
            "machine.name",
            f"{domain.text!r} is not a valid domain name",
            why=f"{domain.name} is the suffix of all service names",
            fix="use cluster.local, or another name of letters, digits, - and .",
        )


def check_cni(cluster: ConfigValue) -> None:
    """Check the network plugin; only for control planes."""
    cni = cluster.down("network.cni")
    if not cni.present:
        return
    name, urls, flannel = cni["name"].text, cni["urls"], cni["flannel"]
    if name not in _CNIS:
        _report_cni(cni["name"], f"{name!r} is not one of {', '.join(_CNIS)}")
        return
    if name != "custom" and not urls.is_empty:
        _report_cni(urls, f"the plugin is {name}, and only custom plugins have URLs")
    if name != "flannel":
        if not flannel["extraArgs"].is_empty:
            _report_cni(flannel["extraArgs"], f"the plugin is {name}, not flannel")
        policies = flannel["kubeNetworkPoliciesEnabled"]
        if cluster.minor >= 13 and policies.flag:
            _report_cni(policies, f"the plugin is {name}, not flannel")
    if name != "custom":
        return
    if urls.is_empty:
        urls.warn(
            "machine.incomplete",
            "the network plugin is custom, but has no URLs",
            why="Talos installs no plugin, so pods get no network",
            fix="set the URLs of its manifests, or `name: none` if it is installed otherwise",
        )
    check_urls(urls)


def _report_cni(field: ConfigValue, why: str) -> None:
    field.error(
        "machine.cni",
        f"{field.name} does not match the network plugin",
        why=why,
        fix="use `name: none` and let the catalog install the plugin, or correct this",
    )


def check_urls(urls: ConfigValue) -> None:
    for url in urls.items:
        wrong = endpoint_error(url.text)
        if wrong:
            url.error(
                "machine.url",
                f"{url.name} is not a valid download URL",
                why=wrong,
                fix="use a URL such as https://example.com/manifest.yaml",
            )


def _check_cloud_provider(provider: ConfigValue) -> None:
    manifests = provider["manifests"]
    if not provider["enabled"].flag:
        if not manifests.is_empty:
            manifests.error(
                "machine.cloud-provider",
                "cluster.externalCloudProvider has manifests, but is disabled",
                why="Talos would not install them",
                fix="set `enabled: true`, or remove the manifests",
            )
        return
    check_urls(manifests)


def _check_etcd(etcd: ConfigValue) -> None:
    if not etcd["ca"].present:
        etcd["ca"].error(
            "machine.ca",
            "cluster.etcd.ca is missing",
            why="members of etcd would not trust each other",
            fix="use the authority `certs.etcd` of the secrets bundle",
        )
    subnet, advertised = etcd["subnet"], etcd["advertisedSubnets"]
    if subnet.text and not advertised.is_empty:
        subnet.error(
            "machine.subnet",
            "cluster.etcd has both subnet and advertisedSubnets",
            why="subnet is the older name of advertisedSubnets",
            fix="move it into advertisedSubnets",
        )
    check_node_subnets(advertised if not advertised.is_empty else subnet)
    check_node_subnets(etcd["listenSubnets"])


def _check_inline_manifests(manifests: ConfigValue) -> None:
    seen: set[str] = set()
    for manifest in manifests.items:
        name = manifest["name"]
        if not name.text.strip():
            name.error(
                "machine.name",
                f"{manifest.name} has no name",
                why="Talos identifies manifests by name",
                fix="set `name:`",
            )
        if name.text in seen:
            name.error(
                "machine.duplicate",
                f"the inline manifest {name.text} is defined twice",
                why="Talos identifies manifests by name",
                fix="rename one of them",
            )
        seen.add(name.text)


def _check_discovery(cluster: ConfigValue) -> None:
    discovery = cluster["discovery"]
    service = discovery.down("registries.service")
    if not discovery["enabled"].flag or service["disabled"].flag:
        return
    endpoint = service["endpoint"]
    url = parse_request_url(endpoint.text or _DISCOVERY_SERVICE)
    if url is None or url.path not in ("", "/"):
        endpoint.error(
            "machine.url",
            f"{endpoint.name} is not a valid discovery service",
            why="it is not a URL" if url is None else "its path is not empty",
            fix=f"remove it: the default is {_DISCOVERY_SERVICE}",
        )
    for key in ("id", "secret"):
        if not cluster[key].text:
            cluster[key].error(
                "machine.discovery",
                f"cluster.{key} is missing, but discovery is enabled",
                why="the discovery service identifies clusters by ID, and members by the secret",
                fix=f"use `cluster.{key}` of the secrets bundle, or disable the service",
            )


def _check_authorization(server: ConfigValue) -> None:
    authorizers = server["authorizationConfig"]
    if authorizers.present:
        for key, entry in server["extraArgs"].entries.items():
            if key == "authorization-mode" or key.startswith("authorization-webhook-"):
                entry.error(
                    "machine.authorization",
                    f"{entry.name} and cluster.apiServer.authorizationConfig exclude each other",
                    why="the API server accepts authorizers in only one of the two ways",
                    fix="remove one of the two",
                )
    for authorizer in authorizers.items:
        for key in ("type", "name"):
            if not authorizer[key].text:
                authorizer[key].missing("the API server requires it for every authorizer")
        check_authorizer_type(authorizer["type"])


def check_authorizer_type(kind: ConfigValue) -> None:
    kind.check_word(AUTHORIZERS)


def check_resources(resources: ConfigValue) -> None:
    for share in ("requests", "limits"):
        for key, entry in resources[share].entries.items():
            if key not in ("cpu", "memory"):
                entry.error(
                    "machine.resources",
                    f"{entry.name} is not a resource that Talos can assign",
                    why="static pods support cpu and memory",
                    fix="remove it",
                )
