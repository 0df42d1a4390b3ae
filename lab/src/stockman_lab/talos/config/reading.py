"""The text of a configuration to what it says."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from stockman_lab.talos.config import reading_kubernetes as kube
from stockman_lab.talos.config import reading_links as net
from stockman_lab.talos.config import reading_node as node
from stockman_lab.talos.config.documents import RELEASES, Documents, documents
from stockman_lab.talos.config.effective_record import Effective
from stockman_lab.talos.config.node_setting import Authority
from stockman_lab.talos.config.reading_node import volumes
from stockman_lab.talos.config.values import (
    Tree,
    at,
    decoded,
    flag,
    mapping,
    mappings,
    text,
    texts,
)

__all__ = ["Effective", "effective"]

_REMEMBERED = 4096


@lru_cache(maxsize=_REMEMBERED)
def effective(text: bytes, minor: str) -> Effective:
    """What a configuration says to a machine of a minor, `1.13`.

    The text is one that Talos takes: what is not as it has to be is passed over, not told;
    `judging` tells.
    """
    return read(text, minor)


_TYPES = {"join": "worker", "control-plane": "controlplane"}


def read(raw: bytes, minor: str) -> Effective:
    """What a text says to a machine of a minor."""
    found = documents(raw)
    machine_type = text(found.machine.get("type"), "worker" if found.oldest is not None else "")
    machine_type = _TYPES.get(machine_type, machine_type)
    controls = machine_type in ("controlplane", "init")
    release = RELEASES[minor]
    labels, annotations, taints = kube.node_marks(found, controls=controls)
    hostname, auto = _hostname(found)
    resolver = found.one("ResolverConfig") or {}
    times = found.one("TimeSyncConfig") or mapping(found.machine.get("time"))
    settings = Effective(
        machine_type=machine_type,
        hostname=hostname,
        auto_hostname=auto,
        links=net.links(found),
        default_dhcp=not net.speaks_of_links(found),
        aliases=net.aliases(found),
        nameservers=net.nameservers(found),
        search_domains=texts(at(resolver, "searchDomains", "domains"))
        or texts(at(found.machine, "network", "searchDomains")),
        default_search_domain=not flag(at(resolver, "searchDomains", "disableDefault"))
        and not flag(at(found.machine, "network", "disableSearchDomain")),
        time_servers=texts(at(times, "ntp", "servers")) or texts(at(times, "servers")),
        time_disabled=flag(times.get("disabled")) or not flag(times.get("enabled"), default=True),
        install=node.install(found),
        kubelet=kube.kubelet(found, release),
        kubernetes=kube.kubernetes(found, release),
        etcd=kube.etcd(found, release),
        node_labels=labels,
        node_annotations=annotations,
        node_taints=taints,
        static_pods=node.static_pods(found),
        kernel_modules=node.kernel_modules(found),
        features=node.features(found, minor),
        volumes=tuple(volumes(found)),
        discovers_members=node.discovers_members(found),
    )
    return _add_identity(settings, found)


def _hostname(document_set: Documents) -> tuple[str, str]:
    document = document_set.one("HostnameConfig")
    if document is not None:
        name = text(document.get("hostname"))
        return name, "off" if name else text(document.get("auto"), "off")
    name = text(at(document_set.machine, "network", "hostname"))
    if name or document_set.oldest is None:
        return name, "off"
    is_stable = flag(at(document_set.machine, "features", "stableHostname"))
    return "", "stable" if is_stable else "addr"


def _add_identity(settings: Effective, document_set: Documents) -> Effective:
    """The same with who the machine and its cluster are."""
    machine, cluster = document_set.machine, document_set.cluster
    named = document_set.one("KubeClusterConfig") or {}
    identity = document_set.one("DiscoveryIdentityConfig") or {}
    authority = document_set.one("KubeAPIServerCAConfig")
    account = document_set.one("KubeServiceAccountConfig")
    return replace(
        settings,
        token=text(machine.get("token")),
        os_ca=_authority(machine.get("ca")),
        accepted_cas=_accepted_authorities(machine.get("acceptedCAs")),
        cert_sans=texts(machine.get("certSANs")),
        cluster_name=text(named.get("clusterName")) or text(cluster.get("clusterName")),
        cluster_id=text(identity.get("clusterID")) or text(cluster.get("id")),
        endpoint=text(named.get("endpoint")) or text(at(cluster, "controlPlane", "endpoint")),
        bootstrap_token=text(cluster.get("token")),
        etcd_ca=_authority(at(cluster, "etcd", "ca")),
        k8s_ca=_authority(cluster.get("ca")) if authority is None else _issuing(authority),
        k8s_accepted_cas=_accepted_authorities(cluster.get("acceptedCAs"))
        if authority is None
        else _besides(authority),
        service_account_key=decoded(at(cluster, "serviceAccount", "key"))
        if account is None
        else text(at(account, "issuer", "privateKey")),
    )


def _authority(value: object) -> Authority:
    return Authority(crt=decoded(at(value, "crt")), key=decoded(at(value, "key")))


def _accepted_authorities(value: object) -> tuple[str, ...]:
    return tuple(decoded(entry.get("crt")) for entry in mappings(value))


def _issuing(document: Tree) -> Authority:
    """The CA of a document; where there is none, the first that is accepted."""
    issuing = mapping(document.get("issuingCA"))
    if issuing:
        return Authority(crt=text(issuing.get("cert")), key=text(issuing.get("key")))
    accepted = texts(document.get("acceptedCAs"))
    return Authority(crt=accepted[0] if accepted else "")


def _besides(document: Tree) -> tuple[str, ...]:
    """What is accepted besides the CA that `_issuing` names."""
    known = _issuing(document).crt
    return tuple(text for text in texts(document.get("acceptedCAs")) if text != known)
