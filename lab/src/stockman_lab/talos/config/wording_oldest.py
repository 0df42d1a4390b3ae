"""Words for problems of the v1alpha1 document."""

from __future__ import annotations

from stockman_lab.talos.config.wording_form import ENDPOINT, EXTENSIONS, FILTER, Wording

_DEVICE = "[networking.os.device.interface], [networking.os.device.deviceSelector]: "
_MIGRATED = "feature Kubernetes Talos API Access"

OLDEST = (
    Wording("machine.section", r"section (?P<name>\w+) is", "{name} instructions are required"),
    Wording("machine.section", r"^persist", ".persist should be enabled"),
    Wording("machine.type", r"^(?P<type>.*) is no type", 'unknown machine type "{type}"'),
    Wording("machine.type", r"", "machine type is required"),
    Wording(
        "machine.spelling",
        r"spelled '(?P<said>.*?)'.*reads it as (?P<meant>\w+)",
        'use "{meant}" instead of "{said}" for machine type',
    ),
    Wording(
        "machine.install",
        r"^machine.install is missing",
        'install instructions are required in "metal" mode',
    ),
    Wording(
        "machine.install", "names no disk", "either install disk or diskSelector should be defined"
    ),
    Wording(
        "machine.install",
        r"Selector.name",
        "install disk selector is invalid: selector on name is not supported",
    ),
    Wording(
        "machine.install",
        r"Selector.type",
        'install disk selector is invalid: unsupported disk type "{value}"',
    ),
    Wording(
        "machine.install",
        r"exclude each other",
        "install.extraKernelArgs and install.grubUseUKICmdline can't be used together",
    ),
    Wording(
        "machine.ca",
        r"^machine.ca is missing",
        "issuing CA or some accepted CAs are required (.machine.ca, machine.acceptedCAs)",
    ),
    Wording(
        "machine.ca",
        r"^machine.ca.key is missing",
        "issuing CA key is required for controlplane nodes (.machine.ca.key)",
    ),
    Wording(
        "machine.ca",
        r"^machine.ca.crt is missing \| a control",
        "issuing CA certificate is required for controlplane nodes (.machine.ca.crt)",
    ),
    Wording(
        "machine.ca",
        r"^machine.ca.crt is missing",
        "trusted CA certificates are required on non-controlplane nodes "
        "(.machine.ca.crt, .machine.acceptedCAs)",
    ),
    Wording("machine.ca", r"^cluster.etcd.ca", "key/cert combination should not be empty"),
    Wording(
        "machine.worker-secret",
        r"key of the Talos API",
        "issuing Talos API CA key is not allowed on non-controlplane nodes (.machine.ca)",
    ),
    Wording(
        "machine.worker-secret",
        r"key of the Kubernetes API",
        "cluster CA key is not allowed on non-controlplane nodes (.cluster.ca)\n*\n"
        "issuing Kubernetes API CA key is not allowed on non-controlplane nodes (.cluster.ca)",
    ),
    Wording(
        "machine.control-plane-only",
        r"^cluster.etcd is",
        "etcd config is only allowed on control plane machines",
    ),
    Wording(
        "machine.control-plane-only",
        r"kubernetesTalosAPIAccess is",
        _MIGRATED + " can only be enabled on control plane machines",
    ),
    Wording(
        "machine.worker-vip", r"", "virtual (shared) IP is not allowed on non-controlplane nodes"
    ),
    Wording("machine.endpoint", r"^cluster.controlPlane.endpoint is missing", ENDPOINT),
    Wording(
        "machine.endpoint",
        r"no URL.*names no host",
        "invalid controlplane endpoint: hostname must not be blank",
    ),
    Wording(
        "machine.endpoint",
        r"no URL.*a port is",
        "invalid controlplane endpoint: port number must be between 1 and 65535",
    ),
    Wording(
        "machine.name", r"'(?P<name>.*)' is no name of a d", '"{name}" is not a valid DNS name'
    ),
    Wording("machine.name", r"^cluster.inlineManifests", "inline manifest name can't be empty"),
    Wording("machine.cni", r"cni.name", 'cni name should be one of ["flannel", "custom", "none"]'),
    Wording(
        "machine.cni",
        r"cni.urls.*plugin is (?P<cni>\w*)",
        '"urls" field should be empty for "{cni}" CNI',
    ),
    Wording(
        "machine.cni",
        r"flannel.extraArgs.*plugin is (?P<cni>\w*)",
        '"flanneldExtraArgs" field should be empty for "{cni}" CNI',
    ),
    Wording(
        "machine.cni",
        r"PoliciesEnabled.*plugin is (?P<cni>\w*)",
        '"flannelKubeNetworkPoliciesEnabled" should not be enabled for "{cni}" CNI',
    ),
    Wording("machine.url", r"^cluster.network.cni.*names no host", "hostname must not be blank"),
    Wording(
        "machine.url",
        r"^cluster.externalCloud.*names no host",
        'invalid external cloud provider manifest url "{value}": hostname must not be blank',
    ),
    Wording(
        "machine.url",
        r"no discovery service.*path",
        "cluster discovery service path should be empty",
    ),
    Wording(
        "machine.url", r"nowhere to send.*scheme", 'unexpected logging endpoint scheme "{scheme}"'
    ),
    Wording(
        "machine.incomplete",
        r"plugin is custom",
        '"urls" field should not be empty for "custom" CNI',
    ),
    Wording(
        "machine.cloud-provider",
        r"and is off",
        "external cloud provider is disabled, but manifests are provided",
    ),
    Wording(
        "machine.duplicate",
        r"inline manifest (?P<name>.*) stands",
        'inline manifest name "{name}" is duplicate',
    ),
    Wording(
        "machine.duplicate", r"extension (?P<name>.*) stands", 'duplicate system extension "{name}"'
    ),
    Wording(
        "machine.discovery",
        r"^(?P<name>cluster\.\w+) is missing, and",
        "cluster discovery service requires .{name}",
    ),
    Wording(
        "machine.discovery",
        r"^cluster.discovery is off",
        ".cluster.discovery should be enabled when .machine.network.kubespan is enabled",
    ),
    Wording("machine.range", r"kubespan.mtu", "kubespan link MTU must be at least 1280"),
    Wording("machine.subnet", r"^!?(?P<net>\S+) is no subnet.*kubespan", FILTER),
    Wording(
        "machine.subnet",
        r"^cluster.etcd has",
        "etcd subnet can't be set when advertised subnets are set",
    ),
    Wording(
        "machine.subnet",
        r"^!?(?P<net>\S+) is no subnet.*etcd.listen",
        'etcd listen subnet is not valid: "{net}"',
    ),
    Wording(
        "machine.subnet",
        r"^!?(?P<net>\S+) is no subnet.*etcd.adv",
        'etcd advertised subnet is not valid: "{net}"',
    ),
    Wording(
        "machine.subnet",
        r"^!?(?P<net>\S+) is no subnet.*nodeIP",
        'kubelet nodeIP subnet is not valid: "{net}"',
    ),
    Wording(
        "machine.kubelet-field",
        r"extraConfig.(?P<name>\w+)",
        'kubelet configuration field "{name}" can\'t be overridden',
    ),
    Wording(
        "machine.interface",
        r"neither interface",
        _DEVICE + "required either config section to be set",
    ),
    Wording(
        "machine.interface",
        r"and deviceSelector exclude",
        _DEVICE + "config sections are mutually exclusive",
    ),
    Wording(
        "machine.interface",
        r"selector is empty",
        "[networking.os.device.deviceSelector]: config section should contain at least one field",
    ),
    Wording(
        "machine.member",
        r"^(?P<link>\S+) belongs to (?P<one>\S+) and to (?P<other>\S+)",
        'interface "{link}" is declared as part of two separate links: "{one}" and "{other}"',
    ),
    Wording(
        "machine.member",
        r"^(?P<link>\S+) has addresses",
        '[networking.os.device] "{link}": bonded/bridged interface shouldn\'t have any '
        "addressing methods configured",
    ),
    Wording(
        "machine.bond",
        r"bond.(?P<name>\w+) cannot.*only (?P<mode>\S+) have",
        "bond.{name} is only available in {mode} mode",
    ),
    Wording(
        "machine.bond", r"bond.updelay.*nothing is", "bond.upDelay can't be set if miiMon is zero"
    ),
    Wording(
        "machine.bond",
        r"bond.downdelay.*nothing is",
        "bond.downDelay can't be set if miiMon is zero",
    ),
    Wording("machine.bond", r"bond.updelay.*multi", "bond.upDelay should be a multiple of miiMon"),
    Wording(
        "machine.bond", r"bond.downdelay.*multi", "bond.downDelay should be a multiple of miiMon"
    ),
    Wording("machine.bond", r"bond.(?P<name>\w+).*not supp", "bond.{name} is not supported"),
    Wording("machine.word", r"bond.mode is '(?P<mode>.*?)'", "invalid bond type {mode}"),
    Wording(
        "machine.word",
        r"SortAlgorithm is '(?P<word>.*?)'",
        "invalid node address sort algorithm: {word} does not belong to "
        "AddressSortAlgorithm values",
    ),
    Wording(
        "machine.route",
        r"routes\[(?P<at>\d+)\] leads",
        "[networking.os.device.route[{at}]]: either network or gateway should be set",
    ),
    Wording(
        "machine.route",
        r"^'(?P<said>.*)' is not an.*routes\[(?P<at>\d+)\].gateway",
        '[networking.os.device.route[{at}].gateway] "{said}": invalid network address',
    ),
    Wording(
        "machine.wireguard",
        r"privateKey is.*has (?P<size>\d+) bytes",
        'private key is invalid: wrong key "{value}" length: {size}',
    ),
    Wording(
        "machine.encryption",
        r"Encryption.(?P<name>\w+) has no key",
        'partition "{name_upper}": no encryption keys provided',
    ),
    Wording(
        "machine.encryption",
        r"Encryption.(?P<name>\w+).keys.* in slot (?P<slot>\d+)",
        'partition "{name_upper}": encryption key slot {slot} is already in use',
    ),
    Wording(
        "machine.label",
        r"annotation (?P<name>\S+) .*own notes",
        "invalid machine node annotations: 1 error occurred:\n\t* annotation "
        '"{name}" is reserved\n\n',
    ),
    Wording(
        "machine.label",
        r"the label.*a value",
        'invalid machine node labels: 1 error occurred:\n\t* label value "{value}" is invalid\n\n',
    ),
    Wording(
        "machine.label",
        r"the taint.*effect",
        'invalid machine node taints: 1 error occurred:\n\t* invalid taint effect: "{value}"\n\n',
    ),
    Wording(
        "machine.role",
        r"^(?P<role>\S+) is no role",
        'invalid role "{role}" in allowed roles for Kubernetes Talos API Access',
    ),
    Wording(
        "machine.role",
        r"roles are off",
        "feature API RBAC should be enabled when Kubernetes Talos API Access feature is enabled",
    ),
    Wording(
        "machine.dns",
        r"^machine.features.hostDNS",
        "feature hostDNS.forwardKubeDNSToHost requires hostDNS.enabled to be true "
        "(.machine.features.hostDNS)",
    ),
    Wording("machine.deprecated", r"install.extensions", EXTENSIONS),
    Wording(
        "machine.deprecated",
        r"machine.files",
        ".machine.files is deprecated; use dedicated configuration documents instead",
    ),
    Wording(
        "machine.deprecated",
        r"RuntimeSpecOverrides",
        ".machine.baseRuntimeSpecOverrides is deprecated; use a CRIBaseRuntimeSpecConfig document "
        "instead",
    ),
    Wording(
        "machine.null", r"mirrors.(?P<name>\S+) is null", 'registries.mirrors["{name}"] is null'
    ),
    Wording("machine.null", r"config.(?P<name>\S+) is null", 'registries.config["{name}"] is null'),
    Wording(
        "machine.authorization",
        r"mode and",
        "authorization-mode cannot be used in conjunction with AuthorizationConfig, "
        "use eitherr AuthorizationConfig or authorization-mode",
    ),
    Wording(
        "machine.resources",
        r"cluster.(?P<name>\w+).resources.\w+.(?P<kind>\w+) is",
        '{name} resource validation failed: unsupported pod resource "{kind}"',
    ),
)
"""Of `pkg/machinery/config/types/v1alpha1/v1alpha1_validation.go`, v1.11.5 to release-1.14."""
