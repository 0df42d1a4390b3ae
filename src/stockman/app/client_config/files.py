"""Client configuration files: their location, safe writing and certificates."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from stockman.adapters.files import replace_private_file, restrict_to_owner
from stockman.adapters.git.probe import LocalGitProbe
from stockman.app.secrets.keyring import Keyring
from stockman.app.workspace.validation import load_desired
from stockman.crypto.certificates import read_certificate_facts
from stockman.model.desired import Cluster, Desired
from stockman.model.errors import Refused, StockmanError
from stockman.model.problem import Problem
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.ports.system import Clock, Entropy
from stockman.talos.credentials.certificates import CLIENT_LIFETIME, ClientIssuer
from stockman.talos.secrets.bundle import SecretsBundle

if TYPE_CHECKING:
    from stockman.talos.credentials.talosconfig import UpdateState

_OF_PROGRAMS = ".stockman"
_LARGEST = 16 << 20
_TAG_BYTES = 4
_DAY = timedelta(days=1)


@record
class ClientFileContext:
    """System resources needed for client configuration files."""

    clock: Clock
    entropy: Entropy
    keyring: Keyring
    environment: Mapping[str, str]


@record
class ClientFile:
    """What happened to a client configuration file."""

    file: str
    state: UpdateState
    context: str
    """Name of the context in the file; differs from the cluster's name if that is taken."""
    roles: tuple[str, ...]
    """Roles of Talos, or groups of Kubernetes."""
    ends: datetime
    days_left: int
    mode_restricted: bool = False
    """Whether the file was readable by others and is no longer."""


@record
class ClientFileOptions:
    """Options of a client configuration file."""

    directory: Path
    lifetime: timedelta = CLIENT_LIFETIME
    merge: Path | None = None
    """None: the file of the workspace."""
    renew: bool = False


@record
class MergedFile:
    """The new content of a file, and what differs from the old one."""

    text: Secret
    state: UpdateState
    context: str
    crt: str
    """The client certificate, PEM."""


def update_client_file(
    path: Path,
    options: ClientFileOptions,
    merge: Callable[[str, Secret], MergedFile],
    roles: tuple[str, ...],
    context: ClientFileContext,
) -> ClientFile:
    """Merge into a file, which is written only if it changes and only where git ignores it."""
    shown = shown_name(path, options.directory)
    check_not_tracked(path, shown)
    merged = merge(shown, read_client_file(path, shown))
    ends = read_certificate_facts(merged.crt).period.end
    closed = merged.state == "unchanged" and restrict_mode(path, shown)
    if merged.state != "unchanged":
        write_client_file(path, shown, merged.text, context.entropy)
    return ClientFile(
        file=shown,
        state=merged.state,
        context=merged.context,
        roles=roles,
        ends=ends,
        days_left=(ends - context.clock.now()) // _DAY,
        mode_restricted=closed,
    )


def load_cluster(directory: Path) -> tuple[Desired, Cluster]:
    """Return the desired state and its cluster; refuse files without a cluster."""
    desired = load_desired(directory)
    if desired.cluster is None:
        raise Refused(
            Problem(
                code="client.no-cluster",
                what="there is no cluster to be a client of",
                why="the configuration names no Talos nodes",
                fix="write the cluster and its nodes, or name another directory with `-C`",
            )
        )
    return desired, desired.cluster


def client_file_path(
    directory: Path, variable: str, environment: Mapping[str, str], usual: str
) -> Path:
    """Return the path that the variable names, if it is inside the workspace, or the default.

    Files in `.stockman` are ignored: `stockman lab env` puts its own there.
    """
    named = environment.get(variable, "")
    if named and not named.count(":"):
        path, root = (directory / named).absolute(), directory.resolve()
        real = path.resolve()
        if real.is_relative_to(root) and not real.is_relative_to(root / _OF_PROGRAMS):
            return path
    return directory / usual


def read_client_file(path: Path, shown: str) -> Secret:
    """Return the text of a file; empty if it does not exist."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST)
        return Secret(content.decode("utf-8"))
    except FileNotFoundError:
        return Secret("")
    except UnicodeDecodeError:
        raise StockmanError(_unusable(shown, "it is not UTF-8 text")) from None
    except OSError as error:
        raise StockmanError(_unusable(shown, error.strerror or type(error).__name__)) from None


def write_client_file(path: Path, shown: str, text: Secret, entropy: Entropy) -> None:
    """Write a file that only its owner can read."""
    tag = entropy.random_bytes(_TAG_BYTES).hex()
    try:
        replace_private_file(path, text.reveal().encode(), tag=tag)
    except OSError as error:
        raise StockmanError(_unwritable(shown, error.strerror or type(error).__name__)) from None


def restrict_mode(path: Path, shown: str) -> bool:
    """Remove the permissions of others from a file. Return False if they had none."""
    try:
        return restrict_to_owner(path)
    except OSError as error:
        raise StockmanError(_unwritable(shown, error.strerror or type(error).__name__)) from None


def check_not_tracked(path: Path, shown: str) -> None:
    """Refuse a path that git does not ignore."""
    target = path.resolve()
    above = next(parent for parent in target.parents if parent.is_dir())
    if LocalGitProbe(above).exposure(str(target.relative_to(above))) == "tracked":
        raise Refused(
            Problem(
                code="client.exposed",
                what=f"git would keep {shown}, which holds a private key",
                where=shown,
                why="it is tracked, or the next `git add .` takes it along",
                fix=f"run `git rm --cached {shlex.quote(shown)}` if it is tracked, and add its name"
                " to .gitignore",
            )
        )


def shown_name(path: Path, directory: Path) -> str:
    """Return the path of a file for messages: relative to the workspace if it is inside."""
    root, target = directory.absolute(), path.absolute()
    return str(target.relative_to(root)) if target.is_relative_to(root) else str(path)


def _unusable(shown: str, why: str) -> Problem:
    return Problem(
        code="client.unreadable",
        what=f"{shown} cannot be read",
        where=shown,
        why=why,
        fix="check that it is a file and its permissions, or move it away to get a new one",
    )


def _unwritable(shown: str, why: str) -> Problem:
    return Problem(
        code="client.unwritable",
        what=f"{shown} cannot be written",
        where=shown,
        why=f"the system says: {why}",
        fix="free space and check the permissions; nothing was changed",
    )


def issuer(bundle: SecretsBundle, cluster: Cluster, context: ClientFileContext) -> ClientIssuer:
    """Return an issuer of certificates for the cluster; the contract determines the roles."""
    return ClientIssuer(
        bundle=bundle,
        talos=cluster.talos.contract,
        now=context.clock.now(),
        random_bytes=context.entropy.random_bytes,
    )


def lifetime_below(authority: str, name: str, wished: timedelta, now: datetime) -> timedelta:
    """Return the requested lifetime, limited to that of the authority.

    Refuses if the authority has expired.
    """
    left = read_certificate_facts(authority).period.end - now
    if left <= timedelta():
        raise Refused(
            Problem(
                code="client.authority-ended",
                what=f"the authority certs.{name} of the secrets bundle has ended",
                why="no machine believes a certificate of it any more",
                fix="give the cluster new authorities (`talosctl rotate-ca`) and import them",
            )
        )
    return min(wished, left)
