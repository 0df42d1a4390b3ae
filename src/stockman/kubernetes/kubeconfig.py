"""Read a kubeconfig: the address of a cluster and the credentials of a user."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import field

from stockman.config.source.tree import MappingNode as Tree
from stockman.config.source.tree import SequenceNode, TreeNode, Unreadable
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
    """A credential plugin: a program that prints credentials."""

    command: str
    arguments: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict, repr=False)
    api_version: str = "client.authentication.k8s.io/v1"


@record
class KubeconfigContext:
    """A context of a kubeconfig: a cluster and a user. Certificates are PEM texts."""

    server: str
    """`https://10.42.0.10:6443`."""
    name: str = ""
    server_name: str = ""
    """Expected name in the certificate of the server. Empty: the host."""
    ca: str = ""
    """Empty: the CA in `ca_file`, or the CAs of the system."""
    ca_file: str = ""
    crt: str = ""
    crt_file: str = ""
    key: Secret | None = None
    key_file: str = ""
    token: Secret | None = None
    token_file: str = ""
    """Read for every request, because other programs renew it."""
    plugin: ExecPlugin | None = None


def read_context(file: str, text: Secret, name: str = "") -> KubeconfigContext:
    """Read a context of a kubeconfig; without a name the current one.

    Raises `Refused` for unsupported settings instead of ignoring them.
    """
    try:
        content = _plain(read_yaml(file, text.reveal()))
    except Unreadable as error:
        raise Refused(problems.kubeconfig_failure(file, str(error.problem.why))) from None
    reader = _KubeconfigReader(file, content if isinstance(content, Mapping) else {})
    return reader.context(name)


class _KubeconfigReader:
    def __init__(self, file: str, content: Mapping[str, object]) -> None:
        self._file = file
        self._content = content

    def context(self, name: str) -> KubeconfigContext:
        chosen = name or _text(self._content, "current-context")
        if not chosen:
            raise self._refused("it has no current context")
        context = self._find("contexts", "context", chosen)
        cluster = self._find("clusters", "cluster", _text(context, "cluster"))
        user = self._find("users", "user", _text(context, "user"))
        self._check(cluster, _CLUSTER_KEYS, "cluster")
        self._check(user, _USER_KEYS, "user")
        if _text(cluster, "insecure-skip-tls-verify") not in _FALSE_VALUES:
            raise self._refused("it disables the check of the server certificate")
        token, key = _text(user, "token"), self._decode(user, "client-key-data")
        return KubeconfigContext(
            name=chosen,
            server=_text(cluster, "server"),
            server_name=_text(cluster, "tls-server-name"),
            ca=self._decode(cluster, "certificate-authority-data"),
            ca_file=_text(cluster, "certificate-authority"),
            crt=self._decode(user, "client-certificate-data"),
            crt_file=_text(user, "client-certificate"),
            key=Secret(key, resolved=True) if key else None,
            key_file=_text(user, "client-key"),
            token=Secret(token, resolved=True) if token else None,
            token_file=_text(user, "tokenFile"),
            plugin=self._plugin(user.get("exec")),
        )

    def _find(self, section: str, inner: str, name: str) -> Mapping[str, object]:
        entries = self._content.get(section)
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, Mapping) and entry.get("name") == name:
                value = entry.get(inner)
                return value if isinstance(value, Mapping) else {}
        raise self._refused(f"it has no {inner} {name!r}")

    def _check(self, values: Mapping[str, object], known: frozenset[str], section: str) -> None:
        unsupported = sorted(
            key for key, value in values.items() if key not in known and value not in _FALSE_VALUES
        )
        if unsupported:
            raise self._refused(f"{unsupported[0]} of its {section} is not supported")

    def _decode(self, values: Mapping[str, object], name: str) -> str:
        try:
            return base64.b64decode(_text(values, name), validate=True).decode("ascii")
        except ValueError:
            raise self._refused(f"{name} is not valid base64") from None

    def _plugin(self, value: object) -> ExecPlugin | None:
        if not isinstance(value, Mapping):
            return None
        arguments, variables = value.get("args"), value.get("env")
        return ExecPlugin(
            command=_text(value, "command"),
            arguments=tuple(str(item) for item in arguments) if isinstance(arguments, list) else (),
            variables={
                _text(item, "name"): _text(item, "value")
                for item in (variables if isinstance(variables, list) else [])
                if isinstance(item, Mapping)
            },
            api_version=_text(value, "apiVersion"),
        )

    def _refused(self, why: str) -> Refused:
        return Refused(problems.kubeconfig_failure(self._file, why))


def _text(values: Mapping[str, object], name: str) -> str:
    text = values.get(name)
    return text if isinstance(text, str) else ""


def _plain(node: TreeNode) -> object:
    """Return plain values with all scalars as text: a token may consist of digits."""
    if isinstance(node, Tree):
        return {key: _plain(entry.value) for key, entry in node.entries.items()}
    if isinstance(node, SequenceNode):
        return [_plain(item) for item in node.items]
    return "" if node.is_null else node.text
