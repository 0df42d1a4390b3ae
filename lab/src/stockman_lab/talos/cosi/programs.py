"""Arguments that Talos itself gives to the programs of the control plane."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stockman_lab.talos.config.effective import Effective

_SECRETS = "/system/secrets/kubernetes"
_CONFIG = "/system/config/kubernetes"
_PUBLIC = (
    "TLS_AES_128_GCM_SHA256,TLS_AES_256_GCM_SHA384,TLS_CHACHA20_POLY1305_SHA256,"
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,"
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,"
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,"
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"
)


def own_arguments(program: str, config: Effective) -> dict[str, str]:
    """Those of `kube-apiserver`, `kube-controller-manager` or `kube-scheduler`."""
    if program == "kube-apiserver":
        return _api_server(config)
    if program == "kube-controller-manager":
        return _controller_manager(config)
    return _scheduler()


def _api_server(config: Effective) -> dict[str, str]:
    secrets, settings = f"{_SECRETS}/kube-apiserver", f"{_CONFIG}/kube-apiserver"
    kubernetes = config.kubernetes
    return {
        "admission-control-config-file": f"{settings}/admission-control-config.yaml",
        "advertise-address": "$(POD_IP)",
        "allow-privileged": "true",
        "anonymous-auth": "false",
        "api-audiences": config.endpoint,
        "audit-log-maxage": "30",
        "audit-log-maxbackup": "10",
        "audit-log-maxsize": "100",
        "audit-log-path": "/var/log/audit/kube/kube-apiserver.log",
        "audit-policy-file": f"{settings}/auditpolicy.yaml",
        "authorization-config": f"{settings}/authorization-config.yaml",
        "bind-address": "0.0.0.0",
        "client-ca-file": f"{secrets}/ca.crt",
        "enable-admission-plugins": "NodeRestriction",
        "enable-bootstrap-token-auth": "true",
        "encryption-provider-config": f"{secrets}/encryptionconfig.yaml",
        "etcd-cafile": f"{secrets}/etcd-client-ca.crt",
        "etcd-certfile": f"{secrets}/etcd-client.crt",
        "etcd-keyfile": f"{secrets}/etcd-client.key",
        "etcd-servers": "https://127.0.0.1:2379",
        "kubelet-client-certificate": f"{secrets}/apiserver-kubelet-client.crt",
        "kubelet-client-key": f"{secrets}/apiserver-kubelet-client.key",
        "kubelet-preferred-address-types": "InternalIP,ExternalIP,Hostname",
        "profiling": "false",
        "proxy-client-cert-file": f"{secrets}/front-proxy-client.crt",
        "proxy-client-key-file": f"{secrets}/front-proxy-client.key",
        "requestheader-allowed-names": "front-proxy-client",
        "requestheader-client-ca-file": f"{secrets}/aggregator-ca.crt",
        "requestheader-extra-headers-prefix": "X-Remote-Extra-",
        "requestheader-group-headers": "X-Remote-Group",
        "requestheader-username-headers": "X-Remote-User",
        "secure-port": str(kubernetes.api_port),
        "service-account-issuer": config.endpoint,
        "service-account-key-file": f"{secrets}/service-account.pub",
        "service-account-signing-key-file": f"{secrets}/service-account.key",
        "service-cluster-ip-range": ",".join(kubernetes.service_subnets),
        "tls-cert-file": f"{secrets}/apiserver.crt",
        "tls-cipher-suites": _PUBLIC,
        "tls-min-version": "VersionTLS12",
        "tls-private-key-file": f"{secrets}/apiserver.key",
    }


def _controller_manager(config: Effective) -> dict[str, str]:
    secrets, kubernetes = f"{_SECRETS}/kube-controller-manager", config.kubernetes
    kubeconfig = f"{secrets}/kubeconfig"
    controller_manager = {
        "allocate-node-cidrs": "true",
        "authentication-kubeconfig": kubeconfig,
        "authorization-kubeconfig": kubeconfig,
        "bind-address": "127.0.0.1",
        "cluster-cidr": ",".join(kubernetes.pod_subnets),
        "cluster-signing-cert-file": f"{secrets}/ca.crt",
        "cluster-signing-key-file": f"{secrets}/ca.key",
        "configure-cloud-routes": "false",
        "controllers": "*,tokencleaner",
        "kubeconfig": kubeconfig,
        "leader-elect": "true",
        "profiling": "false",
        "root-ca-file": f"{secrets}/ca.crt",
        "service-account-private-key-file": f"{secrets}/service-account.key",
        "service-cluster-ip-range": ",".join(kubernetes.service_subnets),
        "tls-min-version": "VersionTLS13",
        "use-service-account-credentials": "true",
    }
    if kubernetes.external_cloud_provider:
        controller_manager["cloud-provider"] = "external"
    return controller_manager


def _scheduler() -> dict[str, str]:
    kubeconfig = f"{_SECRETS}/kube-scheduler/kubeconfig"
    return {
        "authentication-kubeconfig": kubeconfig,
        "authentication-tolerate-lookup-failure": "false",
        "authorization-kubeconfig": kubeconfig,
        "bind-address": "127.0.0.1",
        "config": f"{_CONFIG}/kube-scheduler/scheduler-config.yaml",
        "leader-elect": "true",
        "profiling": "false",
        "tls-min-version": "VersionTLS13",
    }
