"""Settings of the machine itself, out of the v1alpha1 document and out of documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from stockman.talos.migration.disk_selector import disk_expression
from stockman_lab.talos.config.documents import Documents
from stockman_lab.talos.config.node_setting import (
    Discovery,
    ExtensionService,
    Features,
    FirewallRule,
    InstallSetting,
    KernelModule,
    KubeSpan,
    WrittenFile,
)
from stockman_lab.talos.config.values import (
    Tree,
    at,
    flag,
    items,
    mapping,
    mappings,
    number,
    text,
    texts,
    words,
)

_DISCOVERY = "https://discovery.talos.dev/"
_CUSTOM_CRI = "/etc/cri/conf.d/20-customization.part"
_PRISM = 7445


def install(documents: Documents) -> InstallSetting | None:
    unattended = documents.one("UnattendedInstallConfig")
    if unattended is not None:
        image = text(at(unattended, "installer", "image"))
        return InstallSetting(
            expression=text(at(unattended, "provisioning", "diskSelector", "match")),
            image=image,
            wipe=flag(at(unattended, "provisioning", "wipe")),
            uses_uki_cmdline=True,
            is_unattended=True,
            reboots=flag(unattended.get("reboot"), default=bool(image)),
        )
    told = documents.machine.get("install")
    if not isinstance(told, dict):
        return None
    return InstallSetting(
        disk=text(told.get("disk")),
        expression=_disk(told),
        selector=words(told.get("diskSelector")),
        image=text(told.get("image")),
        wipe=flag(told.get("wipe")),
        extra_kernel_args=texts(told.get("extraKernelArgs")),
        extensions=tuple(text(one.get("image")) for one in mappings(told.get("extensions"))),
        uses_uki_cmdline=flag(told.get("grubUseUKICmdline")),
    )


def _disk(told: Tree) -> str:
    try:
        return disk_expression(told) or ""
    except ValueError:
        return ""


def features(documents: Documents, minor: str) -> Features:
    told = mapping(documents.machine.get("features"))
    resolver = mapping((documents.one("ResolverConfig") or {}).get("hostDNS"))
    dns = resolver or mapping(told.get("hostDNS"))
    access = documents.one("KubeTalosAPIAccessConfig")
    allowed = access if access is not None else mapping(told.get("kubernetesTalosAPIAccess"))
    cache = documents.one("ImageCacheConfig")
    is_oldest = minor == "1.11"
    return Features(
        rbac=flag(told.get("rbac"), default=True) or not is_oldest,
        checks_key_usage=flag(told.get("apidCheckExtKeyUsage")) or not is_oldest,
        disk_quota=flag(told.get("diskQuotaSupport")),
        kube_prism_port=_prism(documents),
        host_dns=flag(dns.get("enabled")),
        forwards_kube_dns=flag(dns.get("forwardKubeDNSToHost")),
        resolves_member_names=flag(dns.get("resolveMemberNames")),
        talos_api_access=access is not None or flag(allowed.get("enabled")),
        talos_api_roles=texts(allowed.get("allowedRoles")),
        talos_api_namespaces=texts(allowed.get("allowedKubernetesNamespaces")),
        image_cache=flag(at(cache, "local", "enabled"))
        or flag(at(told, "imageCache", "localEnabled")),
        address_sorting=text(told.get("nodeAddressSortAlgorithm"), "v1"),
        workload_isolation=flag(at(documents.one("SecurityProfileConfig"), "workloadIsolation")),
    )


def _prism(documents: Documents) -> int:
    document = documents.one("KubePrismConfig")
    if document is not None:
        return number(document.get("port"), _PRISM)
    told = mapping(at(documents.machine, "features", "kubePrism"))
    return (number(told.get("port")) or _PRISM) if flag(told.get("enabled")) else 0


def discovery(documents: Documents) -> Discovery:
    old = mapping(documents.cluster.get("discovery"))
    service = mapping(at(old, "registries", "service"))
    is_on = flag(old.get("enabled"))
    if is_on and not flag(service.get("disabled")):
        kubernetes = not flag(at(old, "registries", "kubernetes", "disabled"))
        where = text(service.get("endpoint")) or _DISCOVERY
        return Discovery(enabled=True, service=where, kubernetes=kubernetes)
    document = documents.one("DiscoveryServiceConfig")
    if document is not None:
        return Discovery(enabled=True, service=text(document.get("endpoint")))
    kubernetes = is_on and not flag(at(old, "registries", "kubernetes", "disabled"))
    return Discovery(enabled=is_on, kubernetes=kubernetes)


def kubespan(documents: Documents) -> KubeSpan:
    told = documents.one("KubeSpanConfig") or mapping(at(documents.machine, "network", "kubespan"))
    more = documents.one("KubeSpanEndpointsConfig") or {}
    return KubeSpan(
        enabled=flag(told.get("enabled")),
        advertises_networks=flag(told.get("advertiseKubernetesNetworks")),
        allows_down_peer_bypass=flag(told.get("allowDownPeerBypass")),
        harvests_endpoints=flag(told.get("harvestExtraEndpoints")),
        mtu=number(told.get("mtu")) or KubeSpan().mtu,
        extra_endpoints=texts(more.get("extraAnnouncedEndpoints")),
    )


def firewall(documents: Documents) -> Iterator[FirewallRule]:
    for document in documents.all("NetworkRuleConfig"):
        ingress = list(mappings(document.get("ingress")))
        yield FirewallRule(
            name=text(document.get("name")),
            protocol=text(at(document, "portSelector", "protocol"), "tcp"),
            ports=texts(at(document, "portSelector", "ports")),
            subnets=tuple(text(rule.get("subnet")) for rule in ingress),
            excepted=tuple(text(rule["except"]) for rule in ingress if "except" in rule),
        )


def files(documents: Documents) -> Iterator[WrittenFile]:
    for document in mappings(documents.machine.get("files")):
        yield WrittenFile(
            path=text(document.get("path")),
            content=text(document.get("content")),
            permissions=number(document.get("permissions"), 0o644),
            operation=text(document.get("op"), "create"),
        )
    for document in documents.all("EtcFileConfig"):
        name = text(document.get("name"))
        mode = number(document.get("mode"), 0o644)
        yield WrittenFile(
            path=f"/etc/{name}", content=text(document.get("contents")), permissions=mode
        )
    for document in documents.all("CRICustomizationConfig"):
        yield WrittenFile(path=_CUSTOM_CRI, content=text(document.get("content")))


def extension_services(documents: Documents) -> Iterator[ExtensionService]:
    for document in documents.all("ExtensionServiceConfig"):
        yield ExtensionService(
            name=text(document.get("name")),
            files={
                text(file.get("mountPath")): text(file.get("content"))
                for file in mappings(document.get("configFiles"))
            },
            environment=texts(document.get("environment")),
        )


def kernel_modules(documents: Documents) -> tuple[KernelModule, ...]:
    told = [
        *mappings(at(documents.machine, "kernel", "modules")),
        *documents.all("KernelModuleConfig"),
    ]
    replaces: dict[str, KernelModule] = {}
    for one in told:
        name = text(one.get("name"))
        known = replaces.get(name, KernelModule(name=name))
        replaces[name] = replace(known, parameters=texts(one.get("parameters")))
    return tuple(replaces.values())


def laid(documents: Documents, section: str, kind: str, key: str) -> dict[str, str]:
    """Parameters of a section, and above them those of a document."""
    document = documents.one(kind) or {}
    return words(documents.machine.get(section)) | words(document.get(key))


def logging(documents: Documents) -> tuple[str, ...]:
    told = mappings(at(documents.machine, "logging", "destinations"))
    return tuple(_url(one.get("endpoint")) for one in told)


def _url(endpoint: object) -> str:
    return text(mapping(endpoint).get("url")) if isinstance(endpoint, dict) else text(endpoint)


def watchdog(documents: Documents) -> tuple[str, str] | None:
    told = documents.one("WatchdogTimerConfig")
    return None if told is None else (text(told.get("device")), text(told.get("timeout"), "1m0s"))


def static_pods(documents: Documents) -> tuple[Tree, ...]:
    told = items(documents.machine.get("pods"))
    more = [document.get("pod") for document in documents.all("KubeStaticPodConfig")]
    return tuple(mapping(one) for one in (*told, *more))
