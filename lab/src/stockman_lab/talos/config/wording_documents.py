"""Words for problems of the other documents, and between documents."""

from __future__ import annotations

from stockman_lab.talos.config.wording_form import Wording

_REMOVE = "can't be used with {kind} document, please remove it to avoid conflicts"
_SET = "is already set in v1alpha1 config"


def _conflict(found: str, said: str) -> Wording:
    return Wording("machine.conflict", f"^{found} and (?P<kind>\\w+)", said, is_whole=True)


CONFLICTS = (
    _conflict(r"machine\.network\.hostname", f"static hostname {_SET}"),
    _conflict(r"machine\.features\.stableHostname", f"stable hostname {_SET}"),
    _conflict(
        r"machine\.features\.kubePrism",
        "KubePrism config in v1alpha1 config (.machine.features.kubePrism) " + _REMOVE,
    ),
    _conflict(
        r"cluster\.network",
        "cluster network config in v1alpha1 config (.machine.cluster.network) " + _REMOVE,
    ),
    _conflict(
        r"cluster\.proxy",
        "cluster proxy config in v1alpha1 config (.machine.cluster.proxy) " + _REMOVE,
    ),
    _conflict(
        r"cluster\.aggregatorCA",
        f"kube-apiserver aggregator CA {_SET} (.cluster.aggregatorCA), please remove it and use "
        "the new KubeAggregatorCAConfig document instead",
    ),
    _conflict(r"cluster\.ca", f"kube-apiserver CA {_SET} (.cluster.ca)"),
    _conflict(r"cluster\.apiServer", f"kube-apiserver config {_SET} (.cluster.apiServer)"),
    _conflict(
        r"cluster\.controllerManager",
        f"kube-controller-manager config {_SET} (.cluster.controllerManager)",
    ),
    _conflict(r"cluster\.scheduler", f"kube-scheduler config {_SET} (.cluster.scheduler)"),
    _conflict(r"cluster\.coreDNS", f"CoreDNS config {_SET} (.cluster.coreDNS)"),
    _conflict(r"cluster\.serviceAccount", f"service account {_SET} (.cluster.serviceAccount)"),
    _conflict(r"machine\.kubelet", f"kubelet config {_SET} (.machine.kubelet)"),
    _conflict(r"cluster\.apiServer\.auditPolicy", f"audit policy config {_SET}"),
    _conflict(r"cluster\.apiServer\.admissionControl", f"admission control plugin config {_SET}"),
    _conflict(r"cluster\.\w+EncryptionSecret", f"etcd encryption config {_SET}"),
    _conflict(
        r"machine\.baseRuntime\w+", "base runtime spec overrides are already set in v1alpha1 config"
    ),
    _conflict(r"machine\.features\.imageCache", f"image cache config {_SET}"),
    _conflict(
        r"machine\.network\.kubespan",
        "kubespan is already configured in v1alpha1 machine.network.kubespan",
    ),
    _conflict(
        r"machine\.install", "{kind} config is incompatible with v1alpha1 config (.machine.install)"
    ),
    _conflict(
        r"cluster\.discovery",
        "discovery service is already configured in .cluster.discovery of the v1alpha1 config",
    ),
    _conflict(
        r"cluster\.(?:id|secret)",
        "cluster identity is already configured in .cluster.id/.cluster.secret of the v1alpha1 "
        "config",
    ),
    _conflict(
        r"cluster\.clusterName",
        "cluster name is already set in the v1alpha1 config (.cluster.clusterName). Please remove "
        "it and use only the new KubeClusterConfig document to avoid conflicts",
    ),
    _conflict(r"(?P<field>\S+)", f".{{field}} {_SET}"),
)
WHOLE = (
    Wording(
        "machine.endpoint",
        r"an authority of Kubernetes",
        "cluster name and endpoint are required when Kubernetes is configured: either "
        ".cluster.clusterName/.cluster.controlPlane.endpoint or the KubeClusterConfig document",
        is_whole=True,
    ),
    Wording(
        "machine.discovery",
        r"^the id of the cluster is missing",
        "cluster ID (.cluster.id or DiscoveryIdentityConfig) should be set when cluster discovery "
        "(DiscoveryServiceConfig) is enabled",
        is_whole=True,
    ),
    Wording(
        "machine.discovery",
        r"^KubeSpan is on",
        "KubeSpan requires cluster discovery to be enabled",
        is_whole=True,
    ),
    Wording(
        "machine.dns",
        r"asked through TLS by nobody",
        "hostDNS must be enabled when using non-default DNS protocols",
        is_whole=True,
    ),
    Wording(
        "machine.doubtful",
        r"every resolver",
        "all configured nameservers use encrypted DNS (DoT or DoH): validating certificates "
        "requires a correct system clock, so boot may stall when NTP servers are configured by "
        "hostname; consider keeping at least one plain-DNS fallback or configuring NTP servers by "
        "IP address",
    ),
    Wording(
        "machine.etcd-encryption",
        r"",
        "etcd encryption config is required for control plane machines running kube-apiserver",
        is_whole=True,
    ),
    Wording(
        "machine.control-plane-only",
        r"^(?P<kind>Kube\w+)",
        "the following document kinds are only allowed on control plane machines: [{kind}]",
        is_whole=True,
    ),
)
SINGLE = (
    Wording("machine.hostname", r"auto is", "'auto' and 'hostname' cannot be set at the same time"),
    Wording("machine.range", r"vlanID", "vlanID must be specified and between 1 and 4094"),
    Wording("machine.range", r"Watchdog", "watchdog timeout: minimum value is 10s"),
    Wording("machine.required", r"^links of Bo", "at least one link must be specified"),
    Wording("machine.required", r"^hostnames of", "at least one hostname is required"),
    Wording("machine.required", r"^link of", "link must be specified"),
    Wording("machine.required", r"^name of", "name must be specified"),
    Wording("machine.dhcp", r"", "duidRaw must be set if clientIdentifier is 'duid'"),
    Wording(
        "machine.dns",
        r"nameservers\[(?P<at>\d+)\].*protocol is (?P<how>\w+); enc",
        "tlsServerName must be set when protocol is {how}: entry {at}",
    ),
    Wording(
        "machine.address",
        r"^'(?P<said>.*)' is no.*name of a",
        'name must be a valid IP address: ParseAddr("{said}"): unable to parse IP',
    ),
    Wording("machine.time", r"", "only one of ntp or ptp configuration can be specified"),
    Wording(
        "machine.volume",
        r"no volume of the system \| those are (?P<list_all>.*)",
        "only [{list_all}] volumes are supported",
    ),
    Wording(
        "machine.volume",
        r"^provisioning of VolumeConfig (?P<name>\w+)",
        'provisioning config is not allowed for the "{name}" volume',
    ),
    Wording(
        "machine.volume",
        r"^provisioning of UserVolumeConfig.*directory",
        "provisioning spec is invalid for volumeType directory",
    ),
    Wording("machine.volume", r"is a whole disk", "min size, max size and grow are not supported"),
    Wording("machine.size", r"less than the least", "min size is greater than max size"),
    Wording(
        "machine.expression",
        r"diskSelector.match.*character (?P<after>\d+): \w+ has no (?P<name>\w+)",
        "disk selector is invalid: ERROR: <input>:1:{column}: undefined field '{name}'\n"
        " | {value}\n | {dots}^",
    ),
    Wording(
        "machine.expression",
        r"diskSelector.match.*character (?P<column>\d+): (?P<sign>\S+) does not go with "
        r"(?P<one>\w+) and (?P<other>\w+)",
        "disk selector is invalid: ERROR: <input>:1:{column}: found no matching overload for "
        "'_{sign}_' applied to '({one}, {other})'\n | {value}\n | {dots}^",
    ),
    Wording(
        "machine.url",
        r"^(?P<path>endpoints\[\d+\]\.url) of Reg.*scheme",
        '{path} has unsupported scheme: "{scheme}"',
    ),
    Wording(
        "machine.subnet",
        r"^(?P<kind>pod|service)Subnets.*smaller than the (?P<mask>/\d+) that every node",
        "{kind} subnets: invalid subnet: {value} is smaller than the per-node pod CIDR mask size "
        "{mask}",
    ),
    Wording(
        "machine.expression",
        r"selector.match of LinkAlias.*gives (?P<kind>\w+), and",
        "link selector is invalid: expression output type is {kind}, expected bool",
    ),
    Wording(
        "machine.name",
        r"of a volume.*letters",
        "name can only contain lowercase and uppercase ASCII letters, digits, and hyphens",
    ),
    Wording(
        "machine.extension-service",
        r"Config (?P<name>\S+) configures nothing",
        'no config files found for extension "{name}"',
    ),
    Wording(
        "machine.registry-auth",
        r"two ways",
        "only one of auth, username/password or identityToken authentication can be specified",
    ),
    Wording("machine.certificate", r"^ca of", "ca must be a valid PEM-encoded certificate"),
    Wording("machine.url", r"^url of KmsgLog.*tcp", "url scheme must be tcp:// or udp://"),
    Wording(
        "machine.image-rule",
        r"rules\[(?P<at>\d+)\]",
        "rule {at}: at least one verifier must be configured",
    ),
    Wording(
        "machine.environment",
        r"^'(?P<name>.*)' is no",
        'invalid environment variable name: "{name}"',
    ),
    Wording(
        "machine.container",
        r"network.mode",
        'unsupported network mode "{value}", expected none or host',
    ),
    Wording(
        "machine.bgp",
        r"neighbors\[(?P<at>\d+)\]",
        "neighbor[{at}]: exactly one of address or link must be set",
    ),
    Wording(
        "machine.etc-file",
        r"^'(?P<name>.*)' is.*writes it itself",
        'user etc file "{name}" is managed by Talos',
    ),
    Wording(
        "machine.discovery",
        r"clusterSecret.*has (?P<size>\d+) bytes",
        "invalid clusterSecret: expected 32 bytes, got {size}: {value}",
    ),
)
DOCUMENTS = (*CONFLICTS, *WHOLE, *SINGLE)
"""Of `pkg/machinery/config/types` and `config/container`, v1.11.5 to release-1.14."""
