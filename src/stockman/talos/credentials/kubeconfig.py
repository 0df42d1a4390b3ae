"""The administrator's kubeconfig, as Talos makes it."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from stockman.config.source.text import Unreadable
from stockman.config.source.tree import SequenceNode, to_plain_data
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.writers.yaml_writer import render_yaml
from stockman.crypto.pem import CertificateAndKey
from stockman.model.errors import Refused
from stockman.model.problem import Problem, Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.credentials.certificates import CertificateRequirements, is_usable
from stockman.talos.credentials.talosconfig_update import UpdateState
from stockman.talos.documents import node_at, text_at

_NAMESPACE = "default"


def render_kubeconfig(
    cluster: str, endpoint: str, authority: str, client: CertificateAndKey
) -> Secret:
    """The text of a kubeconfig with one context, `admin@CLUSTER`.

    `authority` is the PEM text that the server's certificate is checked with.
    """
    user = f"admin@{cluster}"
    return Secret(
        render_yaml(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [
                    {
                        "name": cluster,
                        "cluster": {
                            "server": endpoint,
                            "certificate-authority-data": _base64(authority),
                        },
                    }
                ],
                "users": [
                    {
                        "name": user,
                        "user": {
                            "client-certificate-data": _base64(client.crt),
                            "client-key-data": _base64(client.key.reveal()),
                        },
                    }
                ],
                "contexts": [
                    {
                        "name": user,
                        "context": {"cluster": cluster, "namespace": _NAMESPACE, "user": user},
                    }
                ],
                "current-context": user,
            }
        )
    )


def client_certificates(file: str, text: Secret, problems: Problems) -> dict[str, str]:
    """The client certificates of a kubeconfig as PEM text, by the name of their user.

    Users that log in in another way are left out.
    """
    try:
        users = node_at(read_yaml(file, text.reveal()), "users")
    except Unreadable as error:
        problems.add(error.problem)
        return {}
    found = {}
    for user in users.items if isinstance(users, SequenceNode) else []:
        name, data = text_at(user, "name"), text_at(user, "user.client-certificate-data")
        if name is None or data is None:
            continue
        try:
            found[name.text] = base64.b64decode(data.text, validate=True).decode("ascii")
        except ValueError:
            problems.error(
                "certificate.unreadable",
                f"the certificate of {name.text} cannot be read",
                why="it is not base64 of a text",
                fix="make the kubeconfig anew",
                at=data.at,
            )
    return found


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")


_LISTS = ("clusters", "users", "contexts")
_DEFAULT_NAMESPACE = "default"

Tree = dict[str, object]


@record
class DesiredAdmin:
    """The context that should be there, `admin@CLUSTER`."""

    cluster: str
    endpoint: str
    wanted: CertificateRequirements
    renew: bool
    """Whether a certificate that still serves is made anew too."""
    shared: bool
    """Whether the file is not ours alone: a context of the same name may be another cluster's."""


class KubeconfigUpdate(NamedTuple):
    """A kubeconfig with the context in it."""

    text: Secret
    name: str
    """What the context is called there."""
    state: UpdateState
    crt: str


def update_kubeconfig(
    file: str,
    text: Secret,
    wish: DesiredAdmin,
    now: datetime,
    make: Callable[[], CertificateAndKey],
) -> KubeconfigUpdate:
    """The file with the context as wished; `make` is called only where it needs a certificate."""
    tree = _parse_kubeconfig(file, text)
    place = _EntryNames.of(tree, wish) or _EntryNames.free(tree, wish)
    user = _entry_data(_find_entry(tree, "users", place.user), "user")
    cluster = _entry_data(_find_entry(tree, "clusters", place.cluster), "cluster")
    crt, key = _decode_pem(user, "client-certificate-data"), _decode_pem(user, "client-key-data")
    is_there = place.is_there
    keep = (
        is_there
        and not wish.renew
        and is_usable(crt, Secret(key) if key else None, wish.wanted, now)
    )
    wished = {**cluster, **_cluster_entry(wish)}
    if keep and cluster == wished and tree.get("current-context"):
        return KubeconfigUpdate(text, place.context, "unchanged", crt)
    client = CertificateAndKey(crt=crt, key=Secret(key)) if keep else make()
    _set_entry(tree, "clusters", place.cluster, "cluster", wished)
    _set_entry(tree, "users", place.user, "user", _user_entry(client))
    if not is_there:
        names: Tree = {
            "cluster": place.cluster,
            "namespace": _DEFAULT_NAMESPACE,
            "user": place.user,
        }
        _set_entry(tree, "contexts", place.context, "context", names)
    if not is_there or not tree.get("current-context"):
        tree["current-context"] = place.context
    state: UpdateState = "updated" if keep else "renewed" if is_there else "written"
    return KubeconfigUpdate(Secret(render_yaml(tree)), place.context, state, client.crt)


class _EntryNames(NamedTuple):
    """What cluster, user and context are called in a file."""

    cluster: str
    user: str
    context: str
    is_there: bool

    @classmethod
    def of(cls, tree: Tree, wish: DesiredAdmin) -> _EntryNames | None:
        """Where the administrator of the cluster is; None: nowhere."""
        for entry in _entries(tree, "contexts"):
            name, data = str(entry.get("name", "")), _entry_data(entry, "context")
            user, cluster = str(data.get("user", "")), str(data.get("cluster", ""))
            if not _is_numbered_name(name, f"admin@{wish.cluster}"):
                continue
            if wish.shared and not _belongs_to_cluster(tree, cluster, wish):
                continue
            return cls(cluster, user, name, is_there=True)
        return None

    @classmethod
    def free(cls, tree: Tree, wish: DesiredAdmin) -> _EntryNames:
        """Names that nothing else in the file has."""
        number = 0
        while True:
            cluster = f"{wish.cluster}-{number}" if number else wish.cluster
            user = f"admin@{cluster}"
            found = (("clusters", cluster), ("users", user), ("contexts", user))
            if not wish.shared or not any(_find_entry(tree, *one) for one in found):
                return cls(cluster, user, user, is_there=False)
            number += 1


def _parse_kubeconfig(file: str, text: Secret) -> Tree:
    try:
        found = to_plain_data(read_yaml(file, text.reveal()))
    except Unreadable as error:
        raise Refused(error.problem) from None
    tree: Tree = {"apiVersion": "v1", "kind": "Config"}
    tree |= found if isinstance(found, dict) else {}
    for name in _LISTS:
        items = tree.setdefault(name, []) or []
        if not isinstance(items, list) or not all(isinstance(one, dict) for one in items):
            raise Refused(_unreadable(file, name))
        tree[name] = items
    return tree


def _entries(tree: Tree, name: str) -> Iterator[Tree]:
    items = tree[name]
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict):
            yield item


def _find_entry(tree: Tree, lists: str, name: str) -> Tree:
    """The entry of a name; empty where there is none."""
    return next((one for one in _entries(tree, lists) if one.get("name") == name), {})


def _entry_data(entry: Tree, key: str) -> Tree:
    found = entry.get(key)
    return found if isinstance(found, dict) else {}


def _set_entry(tree: Tree, lists: str, name: str, key: str, value: Tree) -> None:
    entry = _find_entry(tree, lists, name)
    if entry:
        entry[key] = value
        return
    items = tree[lists]
    if isinstance(items, list):
        items.append({"name": name, key: value})


def _belongs_to_cluster(tree: Tree, cluster: str, wish: DesiredAdmin) -> bool:
    data = _entry_data(_find_entry(tree, "clusters", cluster), "cluster")
    return _decode_pem(data, "certificate-authority-data").strip() == wish.wanted.authority.strip()


def _is_numbered_name(name: str, base: str) -> bool:
    start, _, number = name.rpartition("-")
    return name == base or (start == base and number.isdigit())


def _cluster_entry(wish: DesiredAdmin) -> Tree:
    return {
        "server": wish.endpoint,
        "certificate-authority-data": _encode_base64(wish.wanted.authority),
    }


def _user_entry(client: CertificateAndKey) -> Tree:
    return {
        "client-certificate-data": _encode_base64(client.crt),
        "client-key-data": _encode_base64(client.key.reveal()),
    }


def _decode_pem(data: Tree, key: str) -> str:
    try:
        return base64.b64decode(str(data.get(key) or ""), validate=True).decode("ascii")
    except ValueError:
        return ""


def _encode_base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")


def _unreadable(file: str, name: str) -> Problem:
    return Problem(
        code="kubeconfig.unreadable",
        what=f"{name} of the kubeconfig cannot be used",
        where=file,
        why="it is not a list of mappings, so nothing can be added to it",
        fix="correct it, or move the file away to get a new one",
    )
