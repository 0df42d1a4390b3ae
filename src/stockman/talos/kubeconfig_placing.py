"""The administrator of a cluster in a kubeconfig: kept, renewed, or added beside others.

Everything else in the file stays, whatever it is.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from stockman.config.source.text import Unreadable
from stockman.config.source.tree import untyped
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.yaml_writer import dump
from stockman.crypto.certificate_pair import CertificateAndKey
from stockman.model.errors import Refused
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.talosconfig_placing import State
from stockman.talos.usable import Wanted, still_serves

_LISTS = ("clusters", "users", "contexts")
_NAMESPACE = "default"

Tree = dict[str, object]


@record
class AdminWish:
    """The context that should be there, `admin@CLUSTER`."""

    cluster: str
    endpoint: str
    wanted: Wanted
    renew: bool
    """Whether a certificate that still serves is made anew too."""
    shared: bool
    """Whether the file is not ours alone: a context of the same name may be another cluster's."""


class PlacedAdmin(NamedTuple):
    """A kubeconfig with the context in it."""

    text: Secret
    name: str
    """What the context is called there."""
    state: State
    crt: str


def placed_admin(
    file: str, text: Secret, wish: AdminWish, now: datetime, make: Callable[[], CertificateAndKey]
) -> PlacedAdmin:
    """The file with the context as wished; `make` is called only where it needs a certificate."""
    tree = _read(file, text)
    place = _Place.of(tree, wish) or _Place.free(tree, wish)
    user = _data(_named(tree, "users", place.user), "user")
    cluster = _data(_named(tree, "clusters", place.cluster), "cluster")
    crt, key = _pem(user, "client-certificate-data"), _pem(user, "client-key-data")
    is_there = place.is_there
    keep = (
        is_there
        and not wish.renew
        and still_serves(crt, Secret(key) if key else None, wish.wanted, now)
    )
    wished = {**cluster, **_cluster(wish)}
    if keep and cluster == wished and tree.get("current-context"):
        return PlacedAdmin(text, place.context, "unchanged", crt)
    client = CertificateAndKey(crt=crt, key=Secret(key)) if keep else make()
    _put(tree, "clusters", place.cluster, "cluster", wished)
    _put(tree, "users", place.user, "user", _user(client))
    if not is_there:
        names: Tree = {"cluster": place.cluster, "namespace": _NAMESPACE, "user": place.user}
        _put(tree, "contexts", place.context, "context", names)
    if not is_there or not tree.get("current-context"):
        tree["current-context"] = place.context
    state: State = "updated" if keep else "renewed" if is_there else "written"
    return PlacedAdmin(Secret(dump(tree)), place.context, state, client.crt)


class _Place(NamedTuple):
    """What cluster, user and context are called in a file."""

    cluster: str
    user: str
    context: str
    is_there: bool

    @classmethod
    def of(cls, tree: Tree, wish: AdminWish) -> _Place | None:
        """Where the administrator of the cluster is; None: nowhere."""
        for entry in _entries(tree, "contexts"):
            name, data = str(entry.get("name", "")), _data(entry, "context")
            user, cluster = str(data.get("user", "")), str(data.get("cluster", ""))
            if not _is_numbered(name, f"admin@{wish.cluster}"):
                continue
            if wish.shared and not _is_of(tree, cluster, wish):
                continue
            return cls(cluster, user, name, is_there=True)
        return None

    @classmethod
    def free(cls, tree: Tree, wish: AdminWish) -> _Place:
        """Names that nothing else in the file has."""
        number = 0
        while True:
            cluster = f"{wish.cluster}-{number}" if number else wish.cluster
            user = f"admin@{cluster}"
            found = (("clusters", cluster), ("users", user), ("contexts", user))
            if not wish.shared or not any(_named(tree, *one) for one in found):
                return cls(cluster, user, user, is_there=False)
            number += 1


def _read(file: str, text: Secret) -> Tree:
    try:
        found = untyped(read_yaml(file, text.reveal()))
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


def _named(tree: Tree, lists: str, name: str) -> Tree:
    """The entry of a name; empty where there is none."""
    return next((one for one in _entries(tree, lists) if one.get("name") == name), {})


def _data(entry: Tree, key: str) -> Tree:
    found = entry.get(key)
    return found if isinstance(found, dict) else {}


def _put(tree: Tree, lists: str, name: str, key: str, value: Tree) -> None:
    entry = _named(tree, lists, name)
    if entry:
        entry[key] = value
        return
    items = tree[lists]
    if isinstance(items, list):
        items.append({"name": name, key: value})


def _is_of(tree: Tree, cluster: str, wish: AdminWish) -> bool:
    data = _data(_named(tree, "clusters", cluster), "cluster")
    return _pem(data, "certificate-authority-data").strip() == wish.wanted.authority.strip()


def _is_numbered(name: str, base: str) -> bool:
    start, _, number = name.rpartition("-")
    return name == base or (start == base and number.isdigit())


def _cluster(wish: AdminWish) -> Tree:
    return {
        "server": wish.endpoint,
        "certificate-authority-data": _base64(wish.wanted.authority),
    }


def _user(client: CertificateAndKey) -> Tree:
    return {
        "client-certificate-data": _base64(client.crt),
        "client-key-data": _base64(client.key.reveal()),
    }


def _pem(data: Tree, key: str) -> str:
    try:
        return base64.b64decode(str(data.get(key) or ""), validate=True).decode("ascii")
    except ValueError:
        return ""


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode("ascii")


def _unreadable(file: str, name: str) -> Problem:
    return Problem(
        code="kubeconfig.unreadable",
        what=f"{name} of the kubeconfig cannot be used",
        where=file,
        why="it is not a list of mappings, so nothing can be added to it",
        fix="correct it, or move the file away to get a new one",
    )
