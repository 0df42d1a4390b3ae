"""The talosconfig file: clusters, endpoints, client credentials, and updates of one context."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from dataclasses import field
from datetime import datetime
from typing import Literal, NamedTuple

from stockman.config.source.tree import MappingNode, ScalarNode, SequenceNode, TreeNode, Unreadable
from stockman.config.source.yaml_reader import read_yaml
from stockman.crypto.certificates import read_certificate_facts
from stockman.crypto.pem import CertificateAndKey, NotPem
from stockman.model.problem import Problems
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.credentials.certificates import CertificateRequirements, is_usable
from stockman.talos.documents import encode_base64, node_at, text_at
from stockman.talos.go_yaml import dump, sort_keys


@record
class BasicAuth:
    """Username and password for an API behind an authenticating proxy."""

    username: str
    password: Secret


@record
class TalosContext:
    """One cluster and the credentials of a client. Certificates are PEM text."""

    endpoints: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    """Default target nodes. Empty: every command names its own."""
    ca: str = ""
    """Empty: the server's certificate is checked with the system's CAs."""
    crt: str = ""
    """Empty: no client certificate."""
    key: Secret | None = None
    """None: no client certificate."""
    basic: BasicAuth | None = None
    """None: no password."""
    identity: str = ""
    """Identity that signs requests, for Omni. Empty: none."""
    cluster: str = ""
    """Name of the cluster, for Omni. Empty: the context is the cluster."""
    proxy_url: str = ""
    """Empty: direct connection."""


@record
class Talosconfig:
    """All contexts, and the current one."""

    context: str = ""
    """Empty: there is no current context."""
    contexts: dict[str, TalosContext] = field(default_factory=dict)


class RenamedContext(NamedTuple):
    """A context that was renamed because its name was taken."""

    before: str
    after: str


def client_context(
    authority: str,
    client: CertificateAndKey,
    *,
    endpoints: Iterable[str] = (),
    nodes: Iterable[str] = (),
) -> TalosContext:
    """Return the context of a client certificate; `authority` is the PEM text of the Talos CA."""
    return TalosContext(
        endpoints=tuple(endpoints),
        nodes=tuple(nodes),
        ca=authority,
        crt=client.crt,
        key=client.key,
    )


def talosconfig_text(config: Talosconfig) -> Secret:
    """Return the text of a talosconfig, byte for byte as `talosctl` writes it."""
    contexts = {name: _context_fields(config.contexts[name]) for name in sort_keys(config.contexts)}
    return Secret(dump({"context": config.context, "contexts": contexts}))


def merge_talosconfigs(
    config: Talosconfig, added: Talosconfig
) -> tuple[Talosconfig, tuple[RenamedContext, ...]]:
    """Merge two files as `talosctl config merge` does.

    A context whose name is taken gets a number; the current context is that of `added`.
    """
    contexts = dict(config.contexts)
    names: dict[str, str] = {}
    for name, context in added.contexts.items():
        names[name] = _free_name(name, contexts)
        contexts[names[name]] = context
    renames = tuple(
        RenamedContext(before, after) for before, after in names.items() if before != after
    )
    current = names.get(added.context, "") if added.context else config.context
    return Talosconfig(context=current, contexts=contexts), renames


def with_context(config: Talosconfig, name: str, context: TalosContext) -> Talosconfig:
    """Return the file with one context added or replaced; it becomes current if there was none."""
    return Talosconfig(context=config.context or name, contexts={**config.contexts, name: context})


def read_talosconfig(file: str, text: Secret, problems: Problems) -> Talosconfig | None:
    """Return the contexts of a file; an empty file has none. None: the problems say why."""
    try:
        tree = read_yaml(file, text.reveal())
    except Unreadable as error:
        problems.add(error.problem)
        return None
    reader = _TalosconfigReader(problems)
    contexts = tree.get("contexts")
    by_name = {}
    if isinstance(contexts, MappingNode):
        for name, entry in contexts.entries.items():
            by_name[name] = reader.context(name, entry.value)
    elif contexts is not None and not _is_blank(contexts):
        reader.unreadable("contexts", "it is not a mapping", contexts)
    current = text_at(tree, "context")
    if reader.failed:
        return None
    return Talosconfig(context="" if current is None else current.text, contexts=by_name)


def _free_name(name: str, taken: dict[str, TalosContext]) -> str:
    candidate, number = name, 0
    while candidate in taken:
        number += 1
        candidate = f"{name}-{number}"
    return candidate


def _context_fields(context: TalosContext) -> dict[str, object]:
    auth: dict[str, object] = {}
    if context.basic is not None:
        basic = context.basic
        auth["basic"] = {"username": basic.username, "password": basic.password.reveal()}
    if context.identity:
        auth["siderov1"] = {"identity": context.identity}
    key = "" if context.key is None else context.key.reveal()
    optional: dict[str, object] = {
        "nodes": context.nodes,
        "ca": encode_base64(context.ca),
        "crt": encode_base64(context.crt),
        "key": encode_base64(key),
        "auth": auth,
        "cluster": context.cluster,
        "proxy-url": context.proxy_url,
    }
    required: dict[str, object] = {"endpoints": context.endpoints}
    return required | {name: value for name, value in optional.items() if value}


def _is_blank(node: TreeNode) -> bool:
    return isinstance(node, ScalarNode) and node.is_null


class _TalosconfigReader:
    def __init__(self, problems: Problems) -> None:
        self._problems = problems
        self.failed = False

    def context(self, name: str, node: TreeNode) -> TalosContext:
        if not isinstance(node, MappingNode):
            self.unreadable(f"context {name}", "it is not a mapping", node)
            return TalosContext()
        key = self._pem(name, node, "key")
        password = text_at(node, "auth.basic.password")
        basic = BasicAuth(
            username=_text(node, "auth.basic.username"),
            password=Secret("" if password is None else password.text),
        )
        # `target` is the one endpoint of very old files.
        targets = [target.text for target in [text_at(node, "target")] if target is not None]
        return TalosContext(
            endpoints=(*self._texts(name, node, "endpoints"), *targets),
            nodes=self._texts(name, node, "nodes"),
            ca=self._pem(name, node, "ca"),
            crt=self._pem(name, node, "crt"),
            key=Secret(key) if key else None,
            basic=None if node_at(node, "auth.basic") is None else basic,
            identity=_text(node, "auth.siderov1.identity"),
            cluster=_text(node, "cluster"),
            proxy_url=_text(node, "proxy-url"),
        )

    def unreadable(self, what: str, why: str, node: TreeNode) -> None:
        self.failed = True
        self._problems.error(
            "talosconfig.unreadable",
            f"{what} of the talosconfig is invalid",
            why=why,
            fix="correct it, or create the talosconfig again",
            at=node.at,
        )

    def _pem(self, name: str, node: MappingNode, key: str) -> str:
        scalar = text_at(node, key)
        if scalar is None:
            return ""
        try:
            return base64.b64decode("".join(scalar.text.split()), validate=True).decode("ascii")
        except ValueError:
            self.unreadable(f"{key} in context {name}", "it is not base64 of a text", scalar)
            return ""

    def _texts(self, name: str, node: MappingNode, key: str) -> tuple[str, ...]:
        items = node.get(key)
        if items is None or _is_blank(items):
            return ()
        if not isinstance(items, SequenceNode):
            self.unreadable(f"{key} in context {name}", "it is not a list", items)
            return ()
        return tuple(item.text for item in items.items if isinstance(item, ScalarNode))


def _text(node: MappingNode, path: str) -> str:
    scalar = text_at(node, path)
    return "" if scalar is None else scalar.text


UpdateState = Literal["written", "renewed", "updated", "unchanged"]
"""`updated`: the certificate is kept, and something else changed."""


@record
class DesiredContext:
    """The desired context."""

    name: str
    required: CertificateRequirements
    endpoints: tuple[str, ...]
    nodes: tuple[str, ...]
    renew: bool
    """Whether to renew a certificate that is still usable."""
    shared: bool
    """Whether a context of the same name may belong to another cluster."""


class TalosconfigUpdate(NamedTuple):
    """A talosconfig that contains the desired context."""

    config: Talosconfig
    name: str
    """Name of the context."""
    state: UpdateState


def update_talosconfig(
    config: Talosconfig,
    desired: DesiredContext,
    now: datetime,
    make: Callable[[], CertificateAndKey],
) -> TalosconfigUpdate:
    """Update the desired context; `make` is called only if a new certificate is needed."""
    name = _find_own_context(config, desired)
    old = config.contexts.get(name) if name is not None else None
    if name is None or old is None:
        return _add_context(config, desired, make)
    keep = not desired.renew and is_usable(old.crt, old.key, desired.required, now)
    if not keep:
        context = _build_context(desired, make())
        return TalosconfigUpdate(with_context(config, name, context), name, "renewed")
    if (old.endpoints, old.nodes) == (desired.endpoints, desired.nodes) and config.context:
        return TalosconfigUpdate(config, name, "unchanged")
    kept = CertificateAndKey(crt=old.crt, key=old.key) if old.key is not None else make()
    return TalosconfigUpdate(
        with_context(config, name, _build_context(desired, kept)), name, "updated"
    )


def _add_context(
    config: Talosconfig, desired: DesiredContext, make: Callable[[], CertificateAndKey]
) -> TalosconfigUpdate:
    context = _build_context(desired, make())
    if not desired.shared:
        return TalosconfigUpdate(
            with_context(config, desired.name, context), desired.name, "written"
        )
    added = Talosconfig(context=desired.name, contexts={desired.name: context})
    both, renames = merge_talosconfigs(config, added)
    return TalosconfigUpdate(both, renames[0].after if renames else desired.name, "written")


def _find_own_context(config: Talosconfig, desired: DesiredContext) -> str | None:
    """Return the name of this cluster's context for these roles; None: there is none."""
    if not desired.shared:
        return desired.name if desired.name in config.contexts else None
    for name, context in config.contexts.items():
        base, _, number = name.rpartition("-")
        has_name = name == desired.name or (base == desired.name and number.isdigit())
        if has_name and _has_roles(context, desired.required):
            return name
    return None


def _has_roles(context: TalosContext, required: CertificateRequirements) -> bool:
    if context.ca.strip() != required.authority.strip():
        return False
    try:
        return sorted(read_certificate_facts(context.crt).organizations) == sorted(
            required.organizations
        )
    except NotPem:
        return False


def _build_context(desired: DesiredContext, client: CertificateAndKey) -> TalosContext:
    return client_context(
        desired.required.authority, client, endpoints=desired.endpoints, nodes=desired.nodes
    )
