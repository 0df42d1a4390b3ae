"""Secrets bundles read: from their own file, and from a controller's machine configuration."""

from __future__ import annotations

from stockman.config.source.text import Unreadable
from stockman.config.source.tree import Mapping, Scalar, Sequence
from stockman.config.source.yaml_reader import read_yaml
from stockman.model.origin import Position
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.talos.bundle import SecretsBundle
from stockman.talos.bundle_parts import ENCRYPTION, NEEDED, Parts
from stockman.talos.documents import V1ALPHA1, at, documents, text_at

_SECRETBOX, _AESCBC = ENCRYPTION
_WORKER = "worker"

# Certificates and keys are base64 in the v1alpha1 document and plain in all others.
_IN_V1ALPHA1 = {
    "cluster.id": "cluster.id",
    "cluster.secret": "cluster.secret",
    "secrets.bootstraptoken": "cluster.token",
    _SECRETBOX: "cluster.secretboxEncryptionSecret",
    _AESCBC: "cluster.aescbcEncryptionSecret",
    "trustdinfo.token": "machine.token",
    "certs.etcd.crt": "cluster.etcd.ca.crt",
    "certs.etcd.key": "cluster.etcd.ca.key",
    "certs.k8s.crt": "cluster.ca.crt",
    "certs.k8s.key": "cluster.ca.key",
    "certs.k8saggregator.crt": "cluster.aggregatorCA.crt",
    "certs.k8saggregator.key": "cluster.aggregatorCA.key",
    "certs.k8sserviceaccount.key": "cluster.serviceAccount.key",
    "certs.os.crt": "machine.ca.crt",
    "certs.os.key": "machine.ca.key",
}
_IN_DOCUMENTS = {
    "cluster.id": ("DiscoveryIdentityConfig", "clusterID"),
    "cluster.secret": ("DiscoveryIdentityConfig", "clusterSecret"),
    "certs.k8s.crt": ("KubeAPIServerCAConfig", "issuingCA.cert"),
    "certs.k8s.key": ("KubeAPIServerCAConfig", "issuingCA.key"),
    "certs.k8saggregator.crt": ("KubeAggregatorCAConfig", "issuingCA.cert"),
    "certs.k8saggregator.key": ("KubeAggregatorCAConfig", "issuingCA.key"),
    "certs.k8sserviceaccount.key": ("KubeServiceAccountConfig", "issuer.privateKey"),
}
_ENCRYPTION_DOCUMENT = "KubeEtcdEncryptionConfig"


def read_bundle(file: str, text: Secret, problems: Problems) -> SecretsBundle | None:
    """The bundle of a decrypted file. None: the problems say why."""
    try:
        tree = read_yaml(file, text.reveal())
    except Unreadable as error:
        problems.add(error.problem)
        return None
    return parse_bundle(tree, problems)


def parse_bundle(tree: Mapping, problems: Problems) -> SecretsBundle | None:
    """The bundle that a tree holds. None: the problems say why."""
    parts = Parts("the secrets bundle", problems)
    for name in (*NEEDED, *ENCRYPTION):
        parts.put(name, text_at(tree, name), in_base64=name.startswith("certs."))
    return parts.bundle(tree.at)


def imported_bundle(file: str, text: Secret, problems: Problems) -> SecretsBundle | None:
    """The bundle that a running cluster was made with, out of a controller's configuration.

    None: the problems say why.
    """
    try:
        found = documents(file, text.reveal())
    except Unreadable as error:
        problems.add(error.problem)
        return None
    old = found.get(V1ALPHA1, [None])[0]
    machine_type = text_at(old, "machine.type")
    if machine_type is not None and machine_type.text == _WORKER:
        problems.error(
            "bundle.worker",
            f"{file} is the configuration of a worker",
            why="workers hold no private keys of the authorities",
            fix="take the machine configuration of a controller",
            at=machine_type.at,
        )
        return None
    parts = Parts("the machine configuration", problems)
    for name, path in _IN_V1ALPHA1.items():
        parts.put(name, text_at(old, path), in_base64=name.startswith("certs."))
    for name, (kind, path) in _IN_DOCUMENTS.items():
        parts.put(name, text_at(found.get(kind, [None])[0], path))
    parts.put(_SECRETBOX, _secretbox_secret(found.get(_ENCRYPTION_DOCUMENT, [None])[0]))
    return parts.bundle(Position(file, 1, 1) if old is None else old.at)


def _secretbox_secret(document: Mapping | None) -> Scalar | None:
    """The key that secrets are encrypted with: the first provider of the first rule for them."""
    for resource in _items(document, "config.resources"):
        kinds = [item.text for item in _items(resource, "resources") if isinstance(item, Scalar)]
        if "secrets" not in kinds:
            continue
        providers = _items(resource, "providers")
        keys = _items(providers[0], "secretbox.keys") if providers else []
        if keys:
            return text_at(keys[0], "secret")
    return None


def _items(node: object, path: str) -> list[Scalar | Mapping | Sequence]:
    found = at(node, path) if isinstance(node, Mapping) else None
    return found.items if isinstance(found, Sequence) else []
