"""kubeconfig: where a cluster answers, and who we are to it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import field

from stockman.config.source.text import Unreadable
from stockman.config.source.tree import MappingNode as Tree
from stockman.config.source.tree import SequenceNode, TreeNode
from stockman.config.source.yaml_reader import read_yaml
from stockman.kubernetes import problems
from stockman.model.errors import Refused
from stockman.model.record import record
from stockman.model.secret import Secret

_CLUSTER_KEYS = frozenset(
    {
        "server",
        "certificate-authority",
        "certificate-authority-data",
        "tls-server-name",
        "insecure-skip-tls-verify",
        "disable-compression",
        "extensions",
    }
)
_USER_KEYS = frozenset(
    {
        "client-certificate",
        "client-certificate-data",
        "client-key",
        "client-key-data",
        "token",
        "tokenFile",
        "exec",
        "extensions",
    }
)
_FALSE_VALUES = ("", "false")


@record
class ExecPlugin:
    """A program that gives credentials."""

    command: str
    arguments: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict, repr=False)
    api_version: str = "client.authentication.k8s.io/v1"


@record
class KubeconfigContext:
    """One cluster as one user sees it. Certificates are PEM texts."""

    server: str
    """`https://10.42.0.10:6443`."""
    name: str = ""
    server_name: str = ""
    """What the certificate of the server says. Empty: the host."""
    ca: str = ""
    """Empty: that of the file, or the authorities of the system."""
    ca_file: str = ""
    crt: str = ""
    crt_file: str = ""
    key: Secret | None = None
    key_file: str = ""
    token: Secret | None = None
    token_file: str = ""
    """Read anew for every call, as others renew it."""
    plugin: ExecPlugin | None = None


def read_context(file: str, text: Secret, name: str = "") -> KubeconfigContext:
    """A context of a kubeconfig, the current one unless another is named.

    `Refused` where it says what we do not do: what is left out silently would be a surprise.
    """
    try:
        found = _plain(read_yaml(file, text.reveal()))
    except Unreadable as error:
        raise Refused(problems.kubeconfig_failure(file, str(error.problem.why))) from None
    reader = _KubeconfigReader(file, found if isinstance(found, Mapping) else {})
    return reader.context(name)


class _KubeconfigReader:
    def __init__(self, file: str, content: Mapping[str, object]) -> None:
        self._file = file
        self._content = content

    def context(self, name: str) -> KubeconfigContext:
        wanted = name or _text(self._content, "current-context")
        if not wanted:
            raise self._no("it has no current context")
        context = self._named("contexts", "context", wanted)
        cluster = self._named("clusters", "cluster", _text(context, "cluster"))
        user = self._named("users", "user", _text(context, "user"))
        self._check(cluster, _CLUSTER_KEYS, "cluster")
        self._check(user, _USER_KEYS, "user")
        if _text(cluster, "insecure-skip-tls-verify") not in _FALSE_VALUES:
            raise self._no("it does not want the certificate of the server to be checked")
        token, key = _text(user, "token"), self._decoded(user, "client-key-data")
        return KubeconfigContext(
            name=wanted,
            server=_text(cluster, "server"),
            server_name=_text(cluster, "tls-server-name"),
            ca=self._decoded(cluster, "certificate-authority-data"),
            ca_file=_text(cluster, "certificate-authority"),
            crt=self._decoded(user, "client-certificate-data"),
            crt_file=_text(user, "client-certificate"),
            key=Secret(key, resolved=True) if key else None,
            key_file=_text(user, "client-key"),
            token=Secret(token, resolved=True) if token else None,
            token_file=_text(user, "tokenFile"),
            plugin=self._plugin(user.get("exec")),
        )

    def _named(self, section: str, inner: str, name: str) -> Mapping[str, object]:
        entries = self._content.get(section)
        for one in entries if isinstance(entries, list) else []:
            if isinstance(one, Mapping) and one.get("name") == name:
                found = one.get(inner)
                return found if isinstance(found, Mapping) else {}
        raise self._no(f"it has no {inner} {name!r}")

    def _check(self, found: Mapping[str, object], known: frozenset[str], what: str) -> None:
        odd = sorted(
            key for key, value in found.items() if key not in known and value not in _FALSE_VALUES
        )
        if odd:
            raise self._no(f"{odd[0]} of its {what} is not supported")

    def _decoded(self, found: Mapping[str, object], name: str) -> str:
        try:
            return base64.b64decode(_text(found, name), validate=True).decode("ascii")
        except ValueError:
            raise self._no(f"{name} is not base64 of a text") from None

    def _plugin(self, found: object) -> ExecPlugin | None:
        if not isinstance(found, Mapping):
            return None
        arguments, variables = found.get("args"), found.get("env")
        return ExecPlugin(
            command=_text(found, "command"),
            arguments=tuple(str(one) for one in arguments) if isinstance(arguments, list) else (),
            variables={
                _text(one, "name"): _text(one, "value")
                for one in (variables if isinstance(variables, list) else [])
                if isinstance(one, Mapping)
            },
            api_version=_text(found, "apiVersion"),
        )

    def _no(self, why: str) -> Refused:
        return Refused(problems.kubeconfig_failure(self._file, why))


def _text(found: Mapping[str, object], name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _plain(node: TreeNode) -> object:
    """What stands there, with texts alone: a token of digits is one."""
    if isinstance(node, Tree):
        return {key: _plain(entry.value) for key, entry in node.entries.items()}
    if isinstance(node, SequenceNode):
        return [_plain(item) for item in node.items]
    return "" if node.is_null else node.text
