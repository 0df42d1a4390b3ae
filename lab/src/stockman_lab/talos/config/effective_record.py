"""All that a machine configuration can say to its machine, in one record."""

from __future__ import annotations

from dataclasses import dataclass, field

from stockman_lab.talos.config.kubernetes_setting import (
    EtcdSetting,
    KubeletSetting,
    KubernetesSetting,
)
from stockman_lab.talos.config.link_setting import LinkSelector, LinkSetting
from stockman_lab.talos.config.node_setting import (
    Authority,
    Features,
    InstallSetting,
    KernelModule,
    VolumeSetting,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """Everything that a configuration says; certificates and keys are PEM texts.

    It is shared by whoever asks for the same text: nothing in it may be changed.
    """

    machine_type: str = ""
    """`controlplane`, `worker` or `init`. Empty: only documents, as maintenance mode takes them."""
    token: str = ""
    """With which machines ask for certificates."""
    os_ca: Authority = field(default_factory=Authority)
    accepted_cas: tuple[str, ...] = ()
    """Besides `os_ca`."""
    cert_sans: tuple[str, ...] = ()

    cluster_name: str = ""
    cluster_id: str = ""
    endpoint: str = ""
    """URL of the Kubernetes API."""
    bootstrap_token: str = ""
    etcd_ca: Authority = field(default_factory=Authority)
    k8s_ca: Authority = field(default_factory=Authority)
    k8s_accepted_cas: tuple[str, ...] = ()
    service_account_key: str = ""

    hostname: str = ""
    """Empty: `auto_hostname` tells."""
    auto_hostname: str = "off"
    """`stable`: made of the machine's identity; `addr`: of its address; `off`: not made at all."""
    links: tuple[LinkSetting, ...] = ()
    default_dhcp: bool = True
    """Whether cards of which nothing is said ask for a lease: no document speaks of any link."""
    aliases: dict[str, LinkSelector] = field(default_factory=dict)
    """Names that cards get besides their own."""
    nameservers: tuple[str, ...] = ()
    search_domains: tuple[str, ...] = ()
    default_search_domain: bool = True
    """Whether the domain of the host name is searched too."""
    time_servers: tuple[str, ...] = ()
    time_disabled: bool = False

    install: InstallSetting | None = None
    """None: nothing is said of it."""
    kubelet: KubeletSetting = field(default_factory=KubeletSetting)
    kubernetes: KubernetesSetting = field(default_factory=KubernetesSetting)
    etcd: EtcdSetting = field(default_factory=EtcdSetting)
    node_labels: dict[str, str] = field(default_factory=dict)
    node_annotations: dict[str, str] = field(default_factory=dict)
    node_taints: dict[str, str] = field(default_factory=dict)
    static_pods: tuple[dict[str, object], ...] = ()
    kernel_modules: tuple[KernelModule, ...] = ()
    features: Features = field(default_factory=Features)
    volumes: tuple[VolumeSetting, ...] = ()
    discovers_members: bool = False
    """Whether members of the cluster find each other without Kubernetes."""

    @property
    def is_partial(self) -> bool:
        """Whether the v1alpha1 document is missing, so that no node can run of it."""
        return not self.machine_type

    @property
    def is_controlplane(self) -> bool:
        return self.machine_type in ("controlplane", "init")

    def volume(self, name: str) -> VolumeSetting | None:
        """What is said of a volume by its name. None: nothing."""
        return next((volume for volume in self.volumes if volume.name == name), None)
