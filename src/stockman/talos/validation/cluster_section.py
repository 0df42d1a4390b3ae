"""Rules of the `cluster` section."""

from __future__ import annotations

from stockman.talos.validation.formats import endpoint_error, is_dns_name, parse_request_url
from stockman.talos.validation.report import ConfigValue, ValidationReport
from stockman.talos.validation.shared_rules import check_node_subnets

AUTHORIZERS = ("Node", "RBAC", "Webhook")
_CNIS = ("flannel", "custom", "none")
_DISCOVERY_SERVICE = "https://discovery.talos.dev/"


def check_cluster(report: ValidationReport, cluster: ConfigValue, *, controls: bool) -> None:
    """Check the `cluster` section; `controls`: whether the machine is a control plane."""
    if not cluster.present:
        report.error(
            "machine.section",
            cluster,
            "the section cluster is missing",
            why="a machine without it belongs to no cluster",
            fix="use it from the configuration of another machine of the cluster",
        )
        return
    if not _check_endpoint(report, cluster):
        return
    _check_domain(report, cluster)
    _check_cloud_provider(report, cluster["externalCloudProvider"])
    etcd = cluster["etcd"]
    if etcd.present and controls:
        _check_etcd(report, etcd)
    elif etcd.present:
        report.error(
            "machine.control-plane-only",
            etcd,
            "cluster.etcd is for control planes only",
            why="this machine is a worker, and runs no etcd",
            fix="remove it",
        )
    if not controls and cluster.down("ca.key").text:
        report.error(
            "machine.worker-secret",
            cluster.down("ca.key"),
            "a worker has the private key of the Kubernetes CA",
            why="an attacker on the worker could impersonate anyone in the cluster",
            fix="leave cluster.ca.key of workers empty",
        )
    _check_inline_manifests(report, cluster["inlineManifests"])
    _check_discovery(report, cluster)
    _check_authorization(report, cluster["apiServer"])
    for name in ("apiServer", "controllerManager", "scheduler"):
        check_resources(report, cluster[name]["resources"])


def _check_endpoint(report: ValidationReport, cluster: ConfigValue) -> bool:
    """Whether the endpoint is present where it is required: otherwise Talos stops checking."""
    control, endpoint = cluster["controlPlane"], cluster.down("controlPlane.endpoint")
    account = cluster["serviceAccount"]
    if report.minor < 14 or control.present:
        if not endpoint.present:
            report.error(
                "machine.endpoint",
                endpoint,
                "cluster.controlPlane.endpoint is missing",
                why="the machine needs it to reach the Kubernetes API",
                fix="set its URL: https://, `cluster_api_addr` and :6443",
            )
            return False
        check_endpoint(report, endpoint)
    if report.minor >= 14 and account.present and not endpoint.present:
        report.error(
            "machine.endpoint",
            account,
            "cluster.serviceAccount requires cluster.controlPlane.endpoint",
            why="the issuer of tokens is derived from the endpoint",
            fix="set the endpoint too, or use a KubeServiceAccountConfig document instead",
        )
    return True


def check_endpoint(report: ValidationReport, endpoint: ConfigValue) -> None:
    wrong = endpoint_error(endpoint.text)
    if wrong:
        report.error(
            "machine.endpoint",
            endpoint,
            f"{endpoint.name} is not a URL of the Kubernetes API",
            why=wrong,
            fix="use a URL such as https://10.42.0.10:6443",
        )


def _check_domain(report: ValidationReport, cluster: ConfigValue) -> None:
    domain = cluster.down("network.dnsDomain")
    if domain.text and not is_dns_name(domain.text):
        report.error(
            "machine.name",
            domain,
            f"{domain.text!r} is not a valid domain name",
            why=f"{domain.name} is the suffix of all service names",
            fix="use cluster.local, or another name of letters, digits, - and .",
        )


def check_cni(report: ValidationReport, cluster: ConfigValue) -> None:
    """Check the network plugin; only for control planes."""
    cni = cluster.down("network.cni")
    if not cni.present:
        return
    name, urls, flannel = cni["name"].text, cni["urls"], cni["flannel"]
    if name not in _CNIS:
        _report_cni(report, cni["name"], f"{name!r} is not one of {', '.join(_CNIS)}")
        return
    if name != "custom" and not urls.is_empty:
        _report_cni(report, urls, f"the plugin is {name}, and only custom plugins have URLs")
    if name != "flannel":
        if not flannel["extraArgs"].is_empty:
            _report_cni(report, flannel["extraArgs"], f"the plugin is {name}, not flannel")
        policies = flannel["kubeNetworkPoliciesEnabled"]
        if report.minor >= 13 and policies.flag:
            _report_cni(report, policies, f"the plugin is {name}, not flannel")
    if name != "custom":
        return
    if urls.is_empty:
        report.warn(
            "machine.incomplete",
            urls,
            "the network plugin is custom, but has no URLs",
            why="Talos installs no plugin, so pods get no network",
            fix="set the URLs of its manifests, or `name: none` if it is installed otherwise",
            counts=True,
        )
    check_urls(report, urls)


def _report_cni(report: ValidationReport, field: ConfigValue, why: str) -> None:
    report.error(
        "machine.cni",
        field,
        f"{field.name} does not match the network plugin",
        why=why,
        fix="use `name: none` and let the catalog install the plugin, or correct this",
    )


def check_urls(report: ValidationReport, urls: ConfigValue) -> None:
    for url in urls.items:
        wrong = endpoint_error(url.text)
        if wrong:
            report.error(
                "machine.url",
                url,
                f"{url.name} is not a valid download URL",
                why=wrong,
                fix="use a URL such as https://example.com/manifest.yaml",
            )


def _check_cloud_provider(report: ValidationReport, provider: ConfigValue) -> None:
    manifests = provider["manifests"]
    if not provider["enabled"].flag:
        if not manifests.is_empty:
            report.error(
                "machine.cloud-provider",
                manifests,
                "cluster.externalCloudProvider has manifests, but is disabled",
                why="Talos would not install them",
                fix="set `enabled: true`, or remove the manifests",
            )
        return
    check_urls(report, manifests)


def _check_etcd(report: ValidationReport, etcd: ConfigValue) -> None:
    if not etcd["ca"].present:
        report.error(
            "machine.ca",
            etcd["ca"],
            "cluster.etcd.ca is missing",
            why="members of etcd would not trust each other",
            fix="use the authority `certs.etcd` of the secrets bundle",
        )
    subnet, advertised = etcd["subnet"], etcd["advertisedSubnets"]
    if subnet.text and not advertised.is_empty:
        report.error(
            "machine.subnet",
            subnet,
            "cluster.etcd has both subnet and advertisedSubnets",
            why="subnet is the older name of advertisedSubnets",
            fix="move it into advertisedSubnets",
        )
    check_node_subnets(report, advertised if not advertised.is_empty else subnet)
    check_node_subnets(report, etcd["listenSubnets"])


def _check_inline_manifests(report: ValidationReport, manifests: ConfigValue) -> None:
    seen: set[str] = set()
    for manifest in manifests.items:
        name = manifest["name"]
        if not name.text.strip():
            report.error(
                "machine.name",
                name,
                f"{manifest.name} has no name",
                why="Talos identifies manifests by name",
                fix="set `name:`",
            )
        if name.text in seen:
            report.error(
                "machine.duplicate",
                name,
                f"the inline manifest {name.text} is defined twice",
                why="Talos identifies manifests by name",
                fix="rename one of them",
            )
        seen.add(name.text)


def _check_discovery(report: ValidationReport, cluster: ConfigValue) -> None:
    discovery = cluster["discovery"]
    service = discovery.down("registries.service")
    if not discovery["enabled"].flag or service["disabled"].flag:
        return
    endpoint = service["endpoint"]
    url = parse_request_url(endpoint.text or _DISCOVERY_SERVICE)
    if url is None or url.path not in ("", "/"):
        report.error(
            "machine.url",
            endpoint,
            f"{endpoint.name} is not a valid discovery service",
            why="it is not a URL" if url is None else "its path is not empty",
            fix=f"remove it: the default is {_DISCOVERY_SERVICE}",
        )
    for key in ("id", "secret"):
        if not cluster[key].text:
            report.error(
                "machine.discovery",
                cluster[key],
                f"cluster.{key} is missing, but discovery is enabled",
                why="the discovery service identifies clusters by ID, and members by the secret",
                fix=f"use `cluster.{key}` of the secrets bundle, or disable the service",
            )


def _check_authorization(report: ValidationReport, server: ConfigValue) -> None:
    authorizers = server["authorizationConfig"]
    if authorizers.present:
        for key, entry in server["extraArgs"].entries.items():
            if key == "authorization-mode" or key.startswith("authorization-webhook-"):
                report.error(
                    "machine.authorization",
                    entry,
                    f"{entry.name} and cluster.apiServer.authorizationConfig exclude each other",
                    why="the API server accepts authorizers in only one of the two ways",
                    fix="remove one of the two",
                )
    for authorizer in authorizers.items:
        for key in ("type", "name"):
            if not authorizer[key].text:
                report.missing(authorizer[key], "the API server requires it for every authorizer")
        check_authorizer_type(report, authorizer["type"])


def check_authorizer_type(report: ValidationReport, kind: ConfigValue) -> None:
    if kind.text and kind.text not in AUTHORIZERS:
        report.error(
            "machine.word",
            kind,
            f"{kind.name} is {kind.text!r}",
            why=f"it must be one of {', '.join(AUTHORIZERS)}",
            fix="use one of these",
        )


def check_resources(report: ValidationReport, resources: ConfigValue) -> None:
    for share in ("requests", "limits"):
        for key, entry in resources[share].entries.items():
            if key not in ("cpu", "memory"):
                report.error(
                    "machine.resources",
                    entry,
                    f"{entry.name} is not a resource that Talos can assign",
                    why="static pods support cpu and memory",
                    fix="remove it",
                )
