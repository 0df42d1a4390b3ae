"""Machine configurations of the nodes, as they would be given to the machines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from pathlib import Path

from stockman.app import machine_configuration_problems as trouble
from stockman.app.bundles import open_bundle
from stockman.app.keyring import Keyring, find_keyring
from stockman.app.machine_configuration_patches import PatchFiles
from stockman.app.machine_files import machine_files
from stockman.app.secret_reading import revealed
from stockman.app.secret_resolving import Surroundings, resolve_secrets
from stockman.app.validation import validate_files
from stockman.config.load import Loaded
from stockman.config.resolve import resolve
from stockman.model.desired import Desired, Node
from stockman.model.errors import NotFound, Refused
from stockman.model.problem import Problem, Problems
from stockman.talos.bundle import SecretsBundle
from stockman.talos.machine.assembly import Assembled, Assembly, mode_of
from stockman.talos.machine.assembly_patches import check_owned
from stockman.talos.machine.assembly_secrets import Masking, secrets_of
from stockman.talos.patches.problems import PatchRefused
from stockman.talos.patches.tree import Branch


class Machines:
    """The machines of a directory, with everything their configurations are made from."""

    def __init__(
        self,
        desired: Desired,
        assembly: Assembly,
        masking: Callable[[], Masking],
        problems: Problems,
        warnings: tuple[Problem, ...],
    ) -> None:
        self._desired = desired
        self._assembly = assembly
        self._problems = problems
        """Secrets that are not at hand; only those that a configuration needs matter."""
        self._masking = masking
        self.warnings = warnings

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self._desired.nodes

    @property
    def assembly(self) -> Assembly:
        """What configurations are made with, for whoever makes them later."""
        return self._assembly

    @cached_property
    def masking(self) -> Masking:
        """What hides secrets wherever a configuration is shown."""
        return self._masking()

    @property
    def minor(self) -> str:
        """The Talos that reads the configurations, `1.13`."""
        return self._assembly.minor

    def named(self, name: str) -> Node:
        for node in self.nodes:
            if node.name == name:
                return node
        raise NotFound(trouble.no_such(name, [str(node.name) for node in self.nodes]))

    def assembled(self, node: Node) -> Assembled:
        """The configuration of a node; refuses when a patch does not apply."""
        return self._assembly.of(node)

    def judged(self, nodes: Iterable[Node]) -> Problems:
        """What Talos would say about the configurations of these nodes."""
        found = Problems()
        for node in nodes:
            found.extend(self.assembled(node).judged(mode_of(self._desired)))
        return found

    def documents(self, node: Node, *, show_secrets: bool) -> tuple[Branch, ...]:
        """The documents of a node's configuration as Talos prints them, secrets masked or not."""
        assembled = self.assembled(node)
        if not show_secrets:
            return tuple(self.masking.masked(one) for one in assembled.printed())
        try:
            return assembled.revealed()
        except Refused as refused:
            raise Refused(self._reason(refused.problem)) from None

    def _reason(self, problem: Problem) -> Problem:
        """Why a secret is not at hand, where that is known."""
        reference, _, _ = problem.why.partition(" is a reference")
        same = (one for one in self._problems if one.what.endswith(f" {reference}"))
        return next(same, problem)


def machines(directory: Path, environment: Mapping[str, str]) -> Machines:
    """The machines of a directory; refuses mistakes, and a bundle that cannot be opened."""
    loaded = validate_files(directory).loaded
    desired = resolve(loaded)
    if desired.cluster is None:
        raise NotFound(trouble.no_cluster())
    keyring = find_keyring(directory, environment)
    around = Surroundings(directory=directory, keyring=keyring, environment=environment)
    return machines_of(around, loaded, desired, open_bundle(directory, keyring))


def machines_of(
    around: Surroundings, loaded: Loaded, desired: Desired, bundle: SecretsBundle
) -> Machines:
    """The machines of files that were read already; refuses patches that are wrong."""
    keyring = around.keyring
    resolved = resolve_secrets(desired, around)
    problems = Problems()
    files = PatchFiles(around.directory, loaded, problems, _opener(keyring))
    patches = files.patches(desired)
    check_owned(patches, problems)
    for problem in problems.errors:
        raise PatchRefused(problem)
    texts = machine_files(around.directory, desired)
    return Machines(
        desired,
        Assembly(resolved.desired, bundle, patches, texts),
        lambda: Masking(secrets_of(resolved.desired, bundle), files.encrypted),
        resolved.problems,
        (*keyring.problems, *problems.warnings),
    )


def _opener(keyring: Keyring) -> Callable[[bytes, str], bytes]:
    return lambda content, name: revealed(content, name, keyring)
