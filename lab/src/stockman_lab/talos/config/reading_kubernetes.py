"""Kubernetes and etcd, out of the v1alpha1 document and out of the documents of 1.14."""

from __future__ import annotations

from collections.abc import Iterator

from stockman_lab.talos.config.documents import Documents, Release
from stockman_lab.talos.config.kubernetes_setting import (
    Arguments,
    Component,
    EtcdSetting,
    KubeletSetting,
    KubernetesSetting,
    Manifest,
)
from stockman_lab.talos.config.values import (
    Tree,
    at,
    flag,
    mapping,
    mappings,
    number,
    text,
    texts,
    words,
)

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"


def kubelet(documents: Documents, release: Release) -> KubeletSetting:
    document, node = documents.one("KubeletConfig"), documents.one("KubeNodeConfig") or {}
    image = f"ghcr.io/siderolabs/kubelet:v{release.kubernetes}"
    if document is not None:
        return KubeletSetting(
            image=text(document.get("image")) or image,
            arguments=arguments(document.get("extraArgs")),
            config=mapping(document.get("config")),
            cluster_dns=texts(document.get("clusterDNS")),
            node_ip_subnets=texts(at(node, "nodeIP", "validSubnets")),
            registers_with_fqdn=flag(node.get("registerWithFQDN")),
            skips_registration=flag(node.get("skipNodeRegistration")),
            seccomp_default=flag(document.get("defaultRuntimeSeccompProfileEnabled")),
            manifests_directory=False,
        )
    told = mapping(documents.machine.get("kubelet"))
    return KubeletSetting(
        image=text(told.get("image")) or image,
        arguments=arguments(told.get("extraArgs")),
        config=mapping(told.get("extraConfig")),
        cluster_dns=texts(told.get("clusterDNS")),
        node_ip_subnets=texts(at(node or told, "nodeIP", "validSubnets")),
        registers_with_fqdn=flag((node or told).get("registerWithFQDN")),
        skips_registration=flag((node or told).get("skipNodeRegistration")),
        seccomp_default=flag(told.get("defaultRuntimeSeccompProfileEnabled")),
        manifests_directory=not flag(told.get("disableManifestsDirectory")),
    )


def arguments(told: object) -> Arguments:
    """Extra arguments of a program, which may have several values since 1.13."""
    return {
        str(name): texts(value) if isinstance(value, list) else (text(value),)
        for name, value in mapping(told).items()
    }


def etcd(documents: Documents, release: Release) -> EtcdSetting:
    told = mapping(documents.cluster.get("etcd"))
    return EtcdSetting(
        image=text(told.get("image")) or release.etcd_image,
        arguments=arguments(told.get("extraArgs")),
    )


def kubernetes(documents: Documents, release: Release) -> KubernetesSetting:
    """What is said of Kubernetes; images are those of the release where none are named."""
    cluster, machine = documents.cluster, documents.machine
    network = documents.one("KubeNetworkConfig") or mapping(cluster.get("network"))
    api = documents.one("KubeAPIServerConfig")
    sans = api.get("certExtraSANs") if api is not None else at(cluster, "apiServer", "certSANs")
    port = at(cluster, "controlPlane", "localAPIServerPort") if api is None else api.get("apiPort")
    off = mapping(machine.get("controlPlane"))
    plain = KubernetesSetting()
    proxy = documents.one("KubeProxyConfig") or mapping(cluster.get("proxy"))
    return KubernetesSetting(
        api_server=_component(api, cluster.get("apiServer"), release.image("kube-apiserver")),
        controller_manager=_component(
            documents.one("KubeControllerManagerConfig"),
            mapping(cluster.get("controllerManager")) | mapping(off.get("controllerManager")),
            release.image("kube-controller-manager"),
        ),
        scheduler=_component(
            documents.one("KubeSchedulerConfig"),
            mapping(cluster.get("scheduler")) | mapping(off.get("scheduler")),
            release.image("kube-scheduler"),
        ),
        proxy=_component(
            documents.one("KubeProxyConfig"), cluster.get("proxy"), release.image("kube-proxy")
        ),
        proxy_mode=text(proxy.get("mode")),
        core_dns=_component(
            documents.one("KubeCoreDNSConfig"), cluster.get("coreDNS"), release.core_dns_image
        ),
        api_port=number(port) or plain.api_port,
        api_cert_sans=texts(sans),
        pod_subnets=texts(network.get("podSubnets")) or plain.pod_subnets,
        service_subnets=texts(network.get("serviceSubnets")) or plain.service_subnets,
        dns_domain=text(network.get("dnsDomain")) or plain.dns_domain,
        cni=_cni(documents),
        manifests=tuple(_manifests(documents)),
        schedules_on_control_planes=_schedules(documents),
        external_cloud_provider=flag(at(cluster, "externalCloudProvider", "enabled")),
    )


def _component(document: Tree | None, section: object, image: str) -> Component:
    told = document if document is not None else mapping(section)
    return Component(
        image=text(told.get("image")) or image,
        enabled=flag(told.get("enabled"), default=True) and not flag(told.get("disabled")),
        arguments=arguments(told.get("extraArgs")),
        environment=words(told.get("env")),
    )


def _cni(documents: Documents) -> str:
    told = mapping(at(documents.cluster, "network", "cni"))
    if documents.one("KubeFlannelCNIConfig") is not None:
        return "flannel"
    if documents.one("KubeNetworkConfig") is None:
        return text(told.get("name")) or "flannel"
    manifests = documents.all("KubeExternalManifestConfig")
    is_custom = any(document.get("name") == "custom-cni" for document in manifests)
    return "custom" if is_custom else "none"


def _manifests(documents: Documents) -> Iterator[Manifest]:
    cluster = documents.cluster
    for url in (
        *texts(at(cluster, "externalCloudProvider", "manifests")),
        *texts(cluster.get("extraManifests")),
    ):
        yield Manifest(name=url, url=url)
    for document in mappings(cluster.get("inlineManifests")):
        yield Manifest(name=text(document.get("name")), text=text(document.get("contents")))
    for document in documents.all("KubeExternalManifestConfig"):
        if document.get("name") != "custom-cni":
            yield Manifest(name=text(document.get("name")), url=text(document.get("url")))
    for document in documents.all("KubeInlineManifestConfig"):
        yield Manifest(name=text(document.get("name")), text=text(document.get("manifest")))


def _schedules(documents: Documents) -> bool:
    node = documents.one("KubeNodeConfig")
    if node is not None:
        return CONTROL_PLANE not in mapping(node.get("taints"))
    return flag(documents.cluster.get("allowSchedulingOnControlPlanes"))


def node_marks(
    documents: Documents, *, controls: bool
) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Labels, annotations and taints; Talos adds those of a control plane up to 1.13's style."""
    node, machine = documents.one("KubeNodeConfig"), documents.machine
    if node is not None:
        return words(node.get("labels")), words(node.get("annotations")), words(node.get("taints"))
    labels, taints = words(machine.get("nodeLabels")), words(machine.get("nodeTaints"))
    if controls:
        labels = {CONTROL_PLANE: "", **labels}
        if not _schedules(documents):
            taints = {CONTROL_PLANE: "NoSchedule", **taints}
    return labels, words(machine.get("nodeAnnotations")), taints
