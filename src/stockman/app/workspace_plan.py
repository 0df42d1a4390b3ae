"""Everything that plans and runs need of a directory, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from stockman.app.kept_tokens import with_kept_tokens
from stockman.app.keyring import find_keyring
from stockman.app.kubernetes_wish import kubernetes_wish
from stockman.app.rendering import Doors, Rendering
from stockman.app.secret_names import dialect_of
from stockman.app.secret_places import SecretPlaces, private_place
from stockman.app.secret_resolving import Surroundings, resolved_part
from stockman.app.secret_store import SecretStore
from stockman.app.stand_ins import with_stand_ins
from stockman.app.tree_door import RenderedTree
from stockman.app.validation import validate_files
from stockman.config.load import FILES
from stockman.config.presets import SCHEMA_DIRECTORY
from stockman.config.resolve import resolve
from stockman.model.desired import Cluster, Desired
from stockman.model.errors import NotFound, Refused
from stockman.model.problem import Problem
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.secret import Secret, SecretForm
from stockman.planning.access_wanted import token_wishes
from stockman.planning.kube_wish import KubernetesWish
from stockman.planning.talos_wish import client_files as wanted_files
from stockman.planning.vm_wanted import owner_of
from stockman.steps.kube_pushed import KEPT
from stockman.steps.secret_ref import SecretRef, Secrets
from stockman.steps.talos_clients import WriteClientFile

if TYPE_CHECKING:
    from stockman.app.machine_configuration import Machines
    from stockman.ports.clock import Clock
    from stockman.ports.entropy import Entropy
    from stockman.talos.bundle import SecretsBundle

T = TypeVar("T")
_NEWEST = 9
_WRITTEN = (*FILES, "templates", "template", ".gitignore", SCHEMA_DIRECTORY)
"""What the user writes, and what `init` writes beside it."""
_IN_PLACE = (SecretForm.LITERAL, SecretForm.ENCRYPTED)


class Workspace:
    """The files of a directory, with what was made from them.

    What only clusters need is imported when it is used: estates of VMs alone do without it.
    """

    def __init__(
        self,
        directory: Path,
        environment: Mapping[str, str],
        clock: Clock,
        entropy: Entropy,
    ) -> None:
        """`Refused` and others where the files have mistakes."""
        self.directory = directory
        self.environment = environment
        self.clock = clock
        self.entropy = entropy
        self.around = Surroundings(
            directory=directory,
            keyring=find_keyring(directory, environment),
            environment=environment,
        )
        self._loaded = loaded = validate_files(directory).loaded
        self._resolved = resolve(loaded)
        self.desired: Desired = with_kept_tokens(self._resolved, self.around)
        self.warnings: tuple[Problem, ...] = tuple(loaded.problems.warnings)
        self.store = SecretStore(directory, self.around.keyring, environment, clock, entropy)
        self.places = SecretPlaces(self.around, self.desired, self.store, entropy)
        self.tree = RenderedTree(directory, self.render_doors)
        self._bundle: SecretsBundle | None = None
        self._machines: Machines | None = None

    @property
    def render_doors(self) -> Doors:
        return Doors(environment=self.environment, clock=self.clock, entropy=self.entropy)

    @property
    def cluster(self) -> Cluster | None:
        return self.desired.cluster

    @property
    def cluster_name(self) -> str:
        """As plans name it; guests without a cluster have a name, too."""
        return owner_of(self.desired)

    @property
    def bundle(self) -> SecretsBundle:
        """The secrets of the cluster, opened once."""
        if self._bundle is None:
            from stockman.app.bundles import open_bundle

            self._bundle = open_bundle(self.directory, self.around.keyring)
        return self._bundle

    def _all_machines(self) -> Machines:
        if self._machines is None:
            from stockman.app.machine_configuration import machines_of

            self._machines = machines_of(self.around, self._loaded, self._resolved, self.bundle)
        return self._machines

    def secrets(self) -> Secrets:
        """Every place that steps name."""
        if self.cluster is None:
            return self.places
        from stockman.steps.talos_rendered import RenderedMachines

        found = self._all_machines()
        return RenderedMachines(found.assembly, found.nodes, self.bundle, self.places)

    def configurations(self) -> dict[str, Secret]:
        """Machine configurations by node, as they would be applied."""
        if self.cluster is None:
            return {}
        found = self._all_machines()
        return {str(node.name): found.assembly.of(node).text() for node in found.nodes}

    def client_files(self) -> tuple[WriteClientFile, ...]:
        """talosconfig and kubeconfig, where the user has them."""
        if self.cluster is None:
            return ()
        from stockman.app import kubeconfigs, talosconfigs

        return wanted_files(
            self.desired,
            self._file(talosconfigs.VARIABLE, talosconfigs.PLACES[dialect_of(self.directory)]),
            self._file(kubeconfigs.VARIABLE, kubeconfigs.PLACE),
        )

    def _file(self, variable: str, usual: str) -> SecretRef:
        from stockman.app import client_files

        path = client_files.place(self.directory, variable, self.environment, usual)
        return private_place(path, self.directory)

    def kubernetes(self) -> tuple[KubernetesWish | None, Rendering | None]:
        """What comes before Flux, and what rendering would do to the files.

        Tokens that are still to be made stand for themselves: only their values are missing.
        """
        if self.cluster is None:
            return None, None
        done = self.tree.rendering()
        wish = kubernetes_wish(self.cluster, done.rendered)
        if wish.pending:
            from stockman.app.rendering import rendering
            from stockman.rendering.ownership import Wishes

            whole = rendering(self.directory, Wishes(), self.render_doors, with_stand_ins)
            if not whole.problems.errors:
                wish = kubernetes_wish(self.cluster, whole.rendered)
        return replace(wish, files=self._files(done)), done

    def _files(self, done: Rendering) -> tuple[str, ...]:
        """What belongs into the repository: what is rendered, and what it is rendered from."""
        tops = {one.path.partition("/")[0] for one in done.rendered.tree}
        authorities = {one.tls.ca_file for one in self.desired.proxmox if one.tls.ca_file}
        beside = {one for one in authorities if not Path(one).is_absolute()}
        return tuple(sorted({*KEPT, *_WRITTEN, *tops, *beside} - {".stockman"}))

    def unkept(self) -> frozenset[str]:
        """Places of tokens that no secret stands in; a secret in the files themselves is kept."""
        found = set()
        for cluster in self.desired.proxmox:
            for wish in token_wishes(self.desired, cluster, _NEWEST):
                given = self._given(wish.whose, cluster)
                if given is not None and given.form in _IN_PLACE:
                    continue
                try:
                    self.places.at_once(wish.secret)
                except NotFound:
                    found.add(wish.secret.place)
        return frozenset(found)

    def _given(self, whose: str, cluster: ProxmoxCluster) -> Secret | None:
        component = self.desired.components.get(whose)
        if component is None:
            return cluster.token_secret
        first = self.desired.proxmox[0].region == cluster.region
        own = component.secrets.get(f"token-{cluster.region}")
        return own or (component.token_secret if first else None)

    def resolved(self, part: T) -> T:
        """A part of the configuration with its secrets; `Refused` where one is not at hand."""
        found, problems = resolved_part(part, self.around)
        for problem in problems.errors:
            raise Refused(problem)
        return found
