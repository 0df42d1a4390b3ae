"""Render the documents of a machine configuration, in the order of Talos.

Contract 1.14 has a small v1alpha1 document, and documents for everything else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman.model.desired import Desired, Node
from stockman.model.errors import Refused
from stockman.model.origin import Position
from stockman.model.problem import Problem, Problems
from stockman.model.secret import Secret, SecretForm
from stockman.talos.documents import Document
from stockman.talos.go_yaml import dump
from stockman.talos.machine.inputs import NO_FILES, MachineInputs, encode_pair, new_document
from stockman.talos.machine.network import network_documents, registry_documents
from stockman.talos.machine.storage import (
    firewall_documents,
    install_match,
    settings_documents,
    volume_documents,
)
from stockman.talos.machine.v1alpha1 import (
    AUDIT_POLICY,
    NO_LOAD_BALANCING,
    POD_SECURITY,
    api_names,
    etcd_section,
    inline_manifests,
    talos_access,
    v1alpha1_document,
)
from stockman.talos.schematic import node_image
from stockman.talos.secrets.bundle import SecretsBundle


def machine_documents(
    desired: Desired,
    node: Node,
    bundle: SecretsBundle,
    files: Mapping[str, str] = NO_FILES,
) -> list[Document]:
    """Return the documents of one node's configuration, before patches; secrets are `Secret`s.

    `files` has the texts of the files in `list_machine_files`; raises Refused for a missing file.
    """
    if desired.cluster is None:
        raise ValueError("a node without a cluster")
    problems = Problems()
    image = node_image(node, desired.cluster.talos, problems)
    if image is None or problems.errors:
        raise Refused(_first_problem(problems, node))
    machine = MachineInputs(desired, desired.cluster, node, bundle, image, files)
    return list(_documents(machine))


def _documents(machine: MachineInputs) -> Iterator[Document]:
    if machine.contract_at_least(1, 14):
        yield from contract_114_documents(machine)
        return
    yield v1alpha1_document(machine)
    yield from volume_documents(machine)
    if machine.contract_at_least(1, 12):
        yield from registry_documents(machine)
        yield from network_documents(machine)
    yield from settings_documents(machine)
    yield from firewall_documents(machine)


def configuration_text(documents: list[Document]) -> Secret:
    """Return the text of a configuration, which contains every secret in plain text."""
    return Secret("---\n".join(dump(reveal_document(document)) for document in documents))


def reveal_document(document: Document) -> Document:
    """Return a document with every secret in plain text."""
    return {key: _reveal_value(item) for key, item in document.items()}


def _reveal_value(value: object) -> object:
    if isinstance(value, Secret):
        if value.form is not SecretForm.LITERAL:
            raise Refused(unresolved_problem(value))
        return value.reveal()
    if isinstance(value, dict):
        return reveal_document(value)
    if isinstance(value, list):
        return [_reveal_value(item) for item in value]
    return value


def unresolved_problem(secret: Secret, where: Position | str = "") -> Problem:
    return Problem(
        code="secret.unresolved",
        what="a secret of the machine configuration is an unresolved reference",
        where=where,
        why=f"{secret.reference} is a reference; the machine would use it literally as the secret",
        fix="resolve references before the configuration is written",
    )


def _first_problem(problems: Problems, node: Node) -> Problem:
    for problem in problems:
        return problem
    raise ValueError(f"no image for {node.name}, and no reason")


CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
DISCOVERY = "https://discovery.talos.dev/"
TRIM_EVERY = "168h0m0s"


def contract_114_documents(machine: MachineInputs) -> Iterator[Document]:
    """Yield all documents, in the order of `talosctl gen config`."""
    yield _v1alpha1(machine)
    yield from _system(machine)
    yield from _kubernetes(machine)
    if machine.is_controller:
        yield from _control_plane(machine)


def _v1alpha1(machine: MachineInputs) -> Document:
    controller = machine.is_controller
    cluster: Document = {"token": machine.bundle.secrets.bootstraptoken}
    if controller:
        cluster["etcd"] = etcd_section(machine)
    if machine.enabled("proxmox-ccm", "talos-ccm"):
        cluster["externalCloudProvider"] = {"enabled": True}
    return {
        "version": "v1alpha1",
        "debug": False,
        "persist": True,
        "machine": {
            "type": "controlplane" if controller else "worker",
            "token": machine.bundle.trustdinfo.token,
            "ca": encode_pair(machine.bundle.certs.os, with_key=controller),
            "certSANs": api_names(machine),
            "features": {"diskQuotaSupport": True},
        },
        "cluster": cluster,
    }


def _system(machine: MachineInputs) -> Iterator[Document]:
    identity = machine.bundle.cluster
    if machine.cluster.talos.discovery:
        yield new_document("DiscoveryServiceConfig", name="default", endpoint=DISCOVERY)
    yield new_document(
        "DiscoveryIdentityConfig", clusterID=identity.id, clusterSecret=identity.secret
    )
    yield new_document(
        "UnattendedInstallConfig",
        installer={"image": machine.image.installer},
        provisioning={"diskSelector": {"match": install_match(machine)}, "wipe": False},
    )
    yield from volume_documents(machine)
    yield new_document("FilesystemTrimConfig", interval=TRIM_EVERY)
    yield new_document("SecurityProfileConfig", workloadIsolation=True)
    yield from settings_documents(machine)
    yield from registry_documents(machine)
    yield from network_documents(machine)
    yield from firewall_documents(machine)


def _kubernetes(machine: MachineInputs) -> Iterator[Document]:
    kubernetes = machine.cluster.kubernetes
    yield new_document(
        "KubeClusterConfig", clusterName=machine.cluster.name, endpoint=machine.endpoint
    )
    yield _node(machine)
    yield _kubelet(machine)
    yield new_document(
        "KubeNetworkConfig",
        dnsDomain="cluster.local",
        podSubnets=[str(kubernetes.pod_cidr)],
        serviceSubnets=[str(kubernetes.svc_cidr)],
    )
    authority = machine.bundle.certs.k8s
    if machine.is_controller:
        issuing = {"cert": authority.crt, "key": authority.key}
        yield new_document("KubeAPIServerCAConfig", issuingCA=issuing)
    else:
        yield new_document("KubeAPIServerCAConfig", acceptedCAs=[authority.crt])
    if machine.cluster.talos.kube_prism.enabled:
        yield new_document("KubePrismConfig", port=machine.cluster.talos.kube_prism.port)


def _kubelet(machine: MachineInputs) -> Document:
    document = new_document(
        "KubeletConfig",
        image=f"ghcr.io/siderolabs/kubelet:{machine.kubernetes}",
        config=dict(machine.settings.kubelet.extra_config),
        extraArgs=machine.kubelet_arguments,
        clusterDNS=[str(server) for server in machine.cluster_dns],
        defaultRuntimeSeccompProfileEnabled=True,
    )
    return {name: value for name, value in document.items() if value}


def _node(machine: MachineInputs) -> Document:
    node = machine.node
    labels: Document = {}
    taints: Document = {}
    if machine.is_controller:
        labels = {CONTROL_PLANE: "", NO_LOAD_BALANCING: ""}
        if not machine.cluster.kubernetes.schedule_on_controllers:
            taints = {CONTROL_PLANE: "NoSchedule"}
    document = new_document("KubeNodeConfig", nodeIP={"validSubnets": machine.node_ip_subnets})
    for key, value in (
        ("labels", labels | node.labels),
        ("annotations", node.annotations),
        ("taints", taints | node.taints),
    ):
        if value:
            document[key] = dict(value)
    return document


def _control_plane(machine: MachineInputs) -> Iterator[Document]:
    bundle = machine.bundle
    aggregator = bundle.certs.k8saggregator
    yield new_document(
        "KubeAggregatorCAConfig", issuingCA={"cert": aggregator.crt, "key": aggregator.key}
    )
    yield new_document("KubeAdmissionControlConfig", name="PodSecurity", configuration=POD_SECURITY)
    yield new_document("KubeAuditPolicyConfig", configuration=AUDIT_POLICY)
    yield new_document("KubeAuthenticationConfig", configuration=_authentication(machine))
    yield new_document("KubeAuthorizerConfig", name="node", type="Node")
    yield new_document("KubeAuthorizerConfig", name="rbac", type="RBAC")
    yield new_document("KubeEtcdEncryptionConfig", config=_encryption(machine))
    yield new_document(
        "KubeServiceAccountConfig",
        issuer={"privateKey": bundle.certs.k8sserviceaccount, "issuerURL": machine.endpoint},
    )
    access = talos_access(machine)
    if access is not None:
        yield new_document("KubeTalosAPIAccessConfig", **access)
    yield from _programs(machine)
    yield new_document("KubeCoreDNSConfig", enabled=machine.has_core_dns)
    for name, url in machine.cluster.kubernetes.extra_manifests.items():
        yield new_document("KubeExternalManifestConfig", name=name, url=url)
    for name, text in inline_manifests(machine):
        yield new_document("KubeInlineManifestConfig", name=name, manifest=text)


def _programs(machine: MachineInputs) -> Iterator[Document]:
    arguments = machine.cluster.kubernetes.extra_args
    programs: list[tuple[str, str, dict[str, str], Document]] = [
        (
            "KubeAPIServerConfig",
            "kube-apiserver",
            arguments.api_server,
            {"certExtraSANs": api_names(machine)},
        ),
        (
            "KubeControllerManagerConfig",
            "kube-controller-manager",
            arguments.controller_manager,
            {},
        ),
        ("KubeSchedulerConfig", "kube-scheduler", arguments.scheduler, {}),
        ("KubeProxyConfig", "kube-proxy", {}, {"enabled": machine.has_kube_proxy}),
    ]
    for kind, program, extra, more in programs:
        image = f"registry.k8s.io/{program}:{machine.kubernetes}"
        extra_args = {"extraArgs": dict(extra)} if extra else {}
        yield new_document(kind, image=image, **extra_args, **more)


def _authentication(machine: MachineInputs) -> Document:
    paths = ("/livez", "/readyz", "/healthz")
    anonymous = {"conditions": [{"path": path} for path in paths], "enabled": True}
    oidc = machine.cluster.kubernetes.oidc
    if oidc is None:
        return {"anonymous": anonymous, "jwt": []}
    login = {
        "issuer": {"url": oidc.issuer_url, "audiences": [oidc.client_id]},
        "claimMappings": {
            "username": {"claim": oidc.username_claim, "prefix": oidc.username_prefix},
            "groups": {"claim": oidc.groups_claim, "prefix": oidc.groups_prefix},
        },
    }
    return {"anonymous": anonymous, "jwt": [login]}


def _encryption(machine: MachineInputs) -> Document:
    secrets = machine.bundle.secrets
    keys = {
        "secretbox": ("key2", secrets.secretboxencryptionsecret),
        "aescbc": ("key1", secrets.aescbcencryptionsecret),
    }
    providers = [
        {kind: {"keys": [{"name": name, "secret": secret}]}}
        for kind, (name, secret) in keys.items()
        if secret is not None
    ]
    return {"resources": [{"providers": providers, "resources": ["secrets"]}]}
