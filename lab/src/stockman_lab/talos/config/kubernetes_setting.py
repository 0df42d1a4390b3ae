"""Settings of Kubernetes and etcd."""

from __future__ import annotations

from dataclasses import dataclass, field

Arguments = dict[str, tuple[str, ...]]
"""Arguments of a program by name; one value each, where 1.13 and newer do not tell several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One program of the control plane."""

    image: str = ""
    enabled: bool = True
    arguments: Arguments = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeletSetting:
    """The kubelet."""

    image: str = ""
    arguments: Arguments = field(default_factory=dict)
    config: dict[str, object] = field(default_factory=dict)
    cluster_dns: tuple[str, ...] = ()
    node_ip_subnets: tuple[str, ...] = ()
    """`!` before one excludes it; empty: any."""
    registers_with_fqdn: bool = False
    skips_registration: bool = False
    seccomp_default: bool = False
    manifests_directory: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EtcdSetting:
    """The member of etcd."""

    image: str = ""
    arguments: Arguments = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What is applied once Kubernetes answers: from a text, or from an address."""

    name: str
    text: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesSetting:
    """What a machine knows of its Kubernetes cluster."""

    api_server: Component = field(default_factory=Component)
    controller_manager: Component = field(default_factory=Component)
    scheduler: Component = field(default_factory=Component)
    proxy: Component = field(default_factory=Component)
    proxy_mode: str = ""
    core_dns: Component = field(default_factory=Component)
    api_port: int = 6443
    api_cert_sans: tuple[str, ...] = ()
    pod_subnets: tuple[str, ...] = ("10.244.0.0/16",)
    service_subnets: tuple[str, ...] = ("10.96.0.0/12",)
    dns_domain: str = "cluster.local"
    cni: str = "flannel"
    """`flannel`, `custom`, `none`."""
    manifests: tuple[Manifest, ...] = ()
    schedules_on_control_planes: bool = False
    external_cloud_provider: bool = False

    @property
    def version(self) -> str:
        """Of the API server's image, `v1.35.2`. Empty: no tag."""
        return self.api_server.image.partition("@")[0].rpartition(":")[2]
