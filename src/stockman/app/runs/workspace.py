"""Inputs of plans and runs from a directory, each read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from stockman.app.rendering.render import RenderContext, RenderedTree, Rendering
from stockman.app.runs.identity import create_guest_fingerprint, read_guest_fingerprint
from stockman.app.runs.secrets import StepSecrets, private_file_ref
from stockman.app.secrets.bundle import bundle_path
from stockman.app.secrets.keyring import find_keyring
from stockman.app.secrets.proxmox_tokens import with_stored_tokens
from stockman.app.secrets.references import ReferenceContext, resolve_section
from stockman.app.secrets.store import SecretStore
from stockman.app.workspace.secret_names import dialect_of
from stockman.app.workspace.validation import validate_files
from stockman.assessment.kubernetes import desired_kubernetes
from stockman.catalog.registry import component, names
from stockman.config.load import CONFIG_FILES
from stockman.config.presets import SCHEMA_DIRECTORY
from stockman.config.resolve import resolve
from stockman.crypto.identity import ClusterIdentity, derive_identity, signing_key
from stockman.model.component import Component
from stockman.model.desired import Cluster, Desired
from stockman.model.errors import NotFound, Refused
from stockman.model.problem import Problem
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.secret import Secret, SecretForm
from stockman.planning.access.desired import list_desired_tokens
from stockman.planning.kubernetes.desired import DesiredKubernetes
from stockman.planning.talos.desired import client_files as wanted_files
from stockman.planning.vm.desired import owner_of
from stockman.steps.digest import digest
from stockman.steps.repository import MANAGED_PATHS
from stockman.steps.secret_ref import SecretRef, Secrets
from stockman.steps.talos.client_files import WriteClientFile

if TYPE_CHECKING:
    from stockman.app.machine_config.machines import Machines
    from stockman.engine.signing import RunSigner
    from stockman.ports.system import Clock, Entropy
    from stockman.talos.secrets.bundle import SecretsBundle


_PLACEHOLDER = Secret("a token that is made later", resolved=True)


def with_placeholders(desired: Desired) -> Desired:
    """Return the desired state with placeholders for component tokens that do not exist yet."""
    return replace(
        desired,
        components={
            name: _component(name, component, desired)
            for name, component in desired.components.items()
        },
    )


def _component(name: str, settings: Component, desired: Desired) -> Component:
    if not settings.enabled or name not in names() or component(name).proxmox is None:
        return settings
    secrets = dict(settings.secrets)
    for number, cluster in enumerate(desired.proxmox):
        if not (number == 0 and settings.token_secret is not None):
            secrets.setdefault(f"token-{cluster.region}", _PLACEHOLDER)
    return replace(settings, secrets=secrets)


T = TypeVar("T")
_NEWEST = 9
_WRITTEN = (*CONFIG_FILES, "templates", "template", ".gitignore", SCHEMA_DIRECTORY)
"""Files that the user or `init` writes."""
_IN_PLACE = (SecretForm.LITERAL, SecretForm.ENCRYPTED)


class RunWorkspace:
    """The files of a directory and everything derived from them.

    Imports for clusters are deferred, because guests without a cluster do not need them.
    """

    def __init__(
        self,
        directory: Path,
        environment: Mapping[str, str],
        clock: Clock,
        entropy: Entropy,
        *,
        creates_identity: bool = False,
    ) -> None:
        """Raises `Refused` and others if the files have errors.

        With `creates_identity`, guests without a cluster get a fingerprint if they have none.
        """
        self.directory = directory
        self.environment = environment
        self.clock = clock
        self.entropy = entropy
        self.context = ReferenceContext(
            directory=directory,
            keyring=find_keyring(directory, environment),
            environment=environment,
        )
        self._loaded = loaded = validate_files(directory).loaded
        self._bundle: SecretsBundle | None = None
        self._machines: Machines | None = None
        self._creates_identity = creates_identity
        self._resolved_desired = resolved = resolve(loaded)
        self.identity = self._read_identity(resolved)
        identity = self.identity or ClusterIdentity(fingerprint="")
        desired = with_stored_tokens(resolved, self.context)
        self.desired: Desired = replace(
            desired,
            fingerprint=identity.fingerprint,
            earlier_fingerprint=read_guest_fingerprint(directory) if identity.signing_seed else "",
        )
        self.warnings: tuple[Problem, ...] = tuple(loaded.problems.warnings)
        self.store = SecretStore(directory, self.context.keyring, environment, clock, entropy)
        self.secret_locations = StepSecrets(self.context, self.desired, self.store, entropy)
        self.tree = RenderedTree(directory, self.render_context)

    @property
    def render_context(self) -> RenderContext:
        return RenderContext(environment=self.environment, clock=self.clock, entropy=self.entropy)

    @property
    def cluster(self) -> Cluster | None:
        return self.desired.cluster

    @property
    def cluster_name(self) -> str:
        """Return the name used in plans; guests without a cluster have one too."""
        return owner_of(self.desired)

    @property
    def files_digest(self) -> str:
        """Digest of what the files say, without the tokens that runs create."""
        return digest(self._resolved_desired)

    @property
    def bundle(self) -> SecretsBundle:
        """The secrets bundle, opened once."""
        if self._bundle is None:
            from stockman.app.secrets.bundle import open_bundle

            self._bundle = open_bundle(self.directory, self.context.keyring)
        return self._bundle

    @property
    def signer(self) -> RunSigner | None:
        """What signs plans and runs. None: a configuration without a cluster has no secrets."""
        from stockman.engine.signing import RunSigner

        key = signing_key(self.identity) if self.identity is not None else None
        return RunSigner(key) if key is not None else None

    def _read_identity(self, desired: Desired) -> ClusterIdentity | None:
        """Return the identity. None: guests without a cluster have no fingerprint yet."""
        path = self.directory / bundle_path(dialect_of(self.directory))
        if desired.cluster is not None or path.is_file():
            return derive_identity(self.bundle.cluster.id, self.bundle.cluster.secret)
        fingerprint = read_guest_fingerprint(self.directory)
        if not fingerprint and self._creates_identity:
            fingerprint = create_guest_fingerprint(self.directory, self.entropy)
        return ClusterIdentity(fingerprint=fingerprint) if fingerprint else None

    def _all_machines(self) -> Machines:
        if self._machines is None:
            from stockman.app.machine_config.machines import build_machines

            self._machines = build_machines(
                self.context, self._loaded, self._resolved_desired, self.bundle
            )
        return self._machines

    def secrets(self) -> Secrets:
        """The secrets that steps read and write."""
        if self.cluster is None:
            return self.secret_locations
        from stockman.steps.talos.configuration import MachineConfigSecrets

        secrets = self._all_machines()
        return MachineConfigSecrets(
            secrets.assembly, secrets.nodes, self.bundle, self.secret_locations
        )

    def configurations(self) -> dict[str, Secret]:
        """Return machine configurations by node, as they would be applied."""
        if self.cluster is None:
            return {}
        configurations = self._all_machines()
        return {
            str(node.name): configurations.assembly.of(node).text() for node in configurations.nodes
        }

    def client_files(self) -> tuple[WriteClientFile, ...]:
        """Return talosconfig and kubeconfig, if the user has them."""
        if self.cluster is None:
            return ()
        from stockman.app.client_config import kubeconfig, talosconfig

        return wanted_files(
            self.desired,
            self._file(talosconfig.VARIABLE, talosconfig.FILES[dialect_of(self.directory)]),
            self._file(kubeconfig.VARIABLE, kubeconfig.FILE),
        )

    def _file(self, variable: str, usual: str) -> SecretRef:
        from stockman.app.client_config import files

        path = files.client_file_path(self.directory, variable, self.environment, usual)
        return private_file_ref(path, self.directory)

    def kubernetes(self) -> tuple[DesiredKubernetes | None, Rendering | None]:
        """Return the objects before Flux, and what rendering would change.

        Tokens that do not exist yet are placeholders.
        """
        if self.cluster is None:
            return None, None
        done = self.tree.rendering()
        kubernetes = desired_kubernetes(self.cluster, done.repository)
        if kubernetes.pending:
            from stockman.app.rendering.render import prepare_rendering
            from stockman.rendering.managed_files import FileDecisions

            rendering = prepare_rendering(
                self.directory, FileDecisions(), self.render_context, with_placeholders
            )
            if not rendering.problems.errors:
                kubernetes = desired_kubernetes(self.cluster, rendering.repository)
        return replace(kubernetes, files=self._files(done)), done

    def _files(self, done: Rendering) -> tuple[str, ...]:
        """Return files that belong to the repository: rendered files and their sources."""
        tops = {entry.path.partition("/")[0] for entry in done.repository.tree}
        authorities = {entry.tls.ca_file for entry in self.desired.proxmox if entry.tls.ca_file}
        beside = {entry for entry in authorities if not Path(entry).is_absolute()}
        return tuple(sorted({*MANAGED_PATHS, *_WRITTEN, *tops, *beside} - {".stockman"}))

    def missing_tokens(self) -> frozenset[str]:
        """Return references to tokens that are not stored and not configured."""
        unkept = set()
        for cluster in self.desired.proxmox:
            for desired_token in list_desired_tokens(self.desired, cluster, _NEWEST):
                configured = self._configured_secret(desired_token.owner, cluster)
                if configured is not None and configured.form in _IN_PLACE:
                    continue
                try:
                    self.secret_locations.read_now(desired_token.secret)
                except NotFound:
                    unkept.add(desired_token.secret.place)
        return frozenset(unkept)

    def _configured_secret(self, whose: str, cluster: ProxmoxCluster) -> Secret | None:
        component = self.desired.components.get(whose)
        if component is None:
            return cluster.token_secret
        first = self.desired.proxmox[0].region == cluster.region
        own = component.secrets.get(f"token-{cluster.region}")
        return own or (component.token_secret if first else None)

    def resolve(self, section: T) -> T:
        """Return a section with its secrets. Raises `Refused` if one is missing."""
        resolved, problems = resolve_section(section, self.context)
        for problem in problems.errors:
            raise Refused(problem)
        return resolved
