"""The administrator's kubeconfig: rendered, and updated in an existing file."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from stockman.config.source.tree import SequenceNode, Unreadable, to_plain_data
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.writers.yaml_writer import render_yaml
from stockman.crypto.pem import CertificateAndKey
from stockman.model.errors import Refused
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.credentials.certificates import CertificateRequirements, is_usable
from stockman.talos.credentials.talosconfig import UpdateState
from stockman.talos.documents import encode_base64, node_at, text_at

_NAMESPACE = "default"


def render_kubeconfig(
    cluster: str, endpoint: str, authority: str, client: CertificateAndKey
) -> Secret:
    """Return a kubeconfig with one context, `admin@CLUSTER`.

    `authority` is the PEM text of the server's CA.
    """
    user = f"admin@{cluster}"
    context = {"cluster": cluster, "namespace": _NAMESPACE, "user": user}
    return Secret(
        render_yaml(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": cluster, "cluster": _cluster_entry(endpoint, authority)}],
                "users": [{"name": user, "user": _user_entry(client)}],
                "contexts": [{"name": user, "context": context}],
                "current-context": user,
            }
        )
    )


def client_certificates(file: str, text: Secret, problems: Problems) -> dict[str, str]:
    """Return the client certificates of a kubeconfig as PEM text, by user name.

    Users with other credentials are left out.
    """
    try:
        users = node_at(read_yaml(file, text.reveal()), "users")
    except Unreadable as error:
        problems.add(error.problem)
        return {}
    certificates = {}
    for user in users.items if isinstance(users, SequenceNode) else []:
        name, data = text_at(user, "name"), text_at(user, "user.client-certificate-data")
        if name is None or data is None:
            continue
        try:
            certificates[name.text] = base64.b64decode(data.text, validate=True).decode("ascii")
        except ValueError:
            problems.error(
                "certificate.unreadable",
                f"the certificate of {name.text} is invalid",
                why="it is not base64 of a text",
                fix="create the kubeconfig again",
                at=data.at,
            )
    return certificates


_LISTS = ("clusters", "users", "contexts")

Tree = dict[str, object]


@record
class DesiredAdmin:
    """The desired context, `admin@CLUSTER`."""

    cluster: str
    endpoint: str
    required: CertificateRequirements
    renew: bool
    """Whether to renew a certificate that is still usable."""
    shared: bool
    """Whether a context of the same name may belong to another cluster."""


class KubeconfigUpdate(NamedTuple):
    """A kubeconfig that contains the desired context."""

    text: Secret
    name: str
    """Name of the context."""
    state: UpdateState
    crt: str


def update_kubeconfig(
    file: str,
    text: Secret,
    desired: DesiredAdmin,
    now: datetime,
    make: Callable[[], CertificateAndKey],
) -> KubeconfigUpdate:
    """Update the desired context; `make` is called only if a new certificate is needed."""
    tree = _parse_kubeconfig(file, text)
    names = _EntryNames.of(tree, desired) or _EntryNames.free(tree, desired)
    user = _entry_data(_find_entry(tree, "users", names.user), "user")
    cluster = _entry_data(_find_entry(tree, "clusters", names.cluster), "cluster")
    crt, key = _decode_pem(user, "client-certificate-data"), _decode_pem(user, "client-key-data")
    is_there = names.is_there
    keep = (
        is_there
        and not desired.renew
        and is_usable(crt, Secret(key) if key else None, desired.required, now)
    )
    desired_cluster = {**cluster, **_cluster_entry(desired.endpoint, desired.required.authority)}
    if keep and cluster == desired_cluster and tree.get("current-context"):
        return KubeconfigUpdate(text, names.context, "unchanged", crt)
    client = CertificateAndKey(crt=crt, key=Secret(key)) if keep else make()
    _set_entry(tree, "clusters", names.cluster, "cluster", desired_cluster)
    _set_entry(tree, "users", names.user, "user", _user_entry(client))
    if not is_there:
        context: Tree = {
            "cluster": names.cluster,
            "namespace": _NAMESPACE,
            "user": names.user,
        }
        _set_entry(tree, "contexts", names.context, "context", context)
    if not is_there or not tree.get("current-context"):
        tree["current-context"] = names.context
    state: UpdateState = "updated" if keep else "renewed" if is_there else "written"
    return KubeconfigUpdate(Secret(render_yaml(tree)), names.context, state, client.crt)


class _EntryNames(NamedTuple):
    """Names of cluster, user and context in a file."""

    cluster: str
    user: str
    context: str
    is_there: bool

    @classmethod
    def of(cls, tree: Tree, desired: DesiredAdmin) -> _EntryNames | None:
        """Return the names of the cluster's administrator; None: there is none."""
        for entry in _entries(tree, "contexts"):
            name, data = str(entry.get("name", "")), _entry_data(entry, "context")
            user, cluster = str(data.get("user", "")), str(data.get("cluster", ""))
            if not _is_numbered_name(name, f"admin@{desired.cluster}"):
                continue
            if desired.shared and not _belongs_to_cluster(tree, cluster, desired):
                continue
            return cls(cluster, user, name, is_there=True)
        return None

    @classmethod
    def free(cls, tree: Tree, desired: DesiredAdmin) -> _EntryNames:
        """Return unused names."""
        number = 0
        while True:
            cluster = f"{desired.cluster}-{number}" if number else desired.cluster
            user = f"admin@{cluster}"
            candidates = (("clusters", cluster), ("users", user), ("contexts", user))
            if not desired.shared or not any(_find_entry(tree, *entry) for entry in candidates):
                return cls(cluster, user, user, is_there=False)
            number += 1


def _parse_kubeconfig(file: str, text: Secret) -> Tree:
    try:
        content = to_plain_data(read_yaml(file, text.reveal()))
    except Unreadable as error:
        raise Refused(error.problem) from None
    tree: Tree = {"apiVersion": "v1", "kind": "Config"}
    tree |= content if isinstance(content, dict) else {}
    for name in _LISTS:
        items = tree.setdefault(name, []) or []
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise Refused(_unreadable(file, name))
        tree[name] = items
    return tree


def _entries(tree: Tree, name: str) -> Iterator[Tree]:
    items = tree[name]
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict):
            yield item


def _find_entry(tree: Tree, lists: str, name: str) -> Tree:
    """Return the entry with a name; empty if there is none."""
    return next((entry for entry in _entries(tree, lists) if entry.get("name") == name), {})


def _entry_data(entry: Tree, key: str) -> Tree:
    data = entry.get(key)
    return data if isinstance(data, dict) else {}


def _set_entry(tree: Tree, lists: str, name: str, key: str, value: Tree) -> None:
    entry = _find_entry(tree, lists, name)
    if entry:
        entry[key] = value
        return
    items = tree[lists]
    if isinstance(items, list):
        items.append({"name": name, key: value})


def _belongs_to_cluster(tree: Tree, cluster: str, desired: DesiredAdmin) -> bool:
    data = _entry_data(_find_entry(tree, "clusters", cluster), "cluster")
    return (
        _decode_pem(data, "certificate-authority-data").strip()
        == desired.required.authority.strip()
    )


def _is_numbered_name(name: str, base: str) -> bool:
    start, _, number = name.rpartition("-")
    return name == base or (start == base and number.isdigit())


def _cluster_entry(endpoint: str, authority: str) -> Tree:
    return {"server": endpoint, "certificate-authority-data": encode_base64(authority)}


def _user_entry(client: CertificateAndKey) -> Tree:
    return {
        "client-certificate-data": encode_base64(client.crt),
        "client-key-data": encode_base64(client.key.reveal()),
    }


def _decode_pem(data: Tree, key: str) -> str:
    try:
        return base64.b64decode(str(data.get(key) or ""), validate=True).decode("ascii")
    except ValueError:
        return ""


def _unreadable(file: str, name: str) -> Problem:
    return Problem(
        code="kubeconfig.unreadable",
        what=f"{name} of the kubeconfig is invalid",
        where=file,
        why="it is not a list of mappings, so no entry can be added",
        fix="correct it, or move the file away to create a new one",
    )
