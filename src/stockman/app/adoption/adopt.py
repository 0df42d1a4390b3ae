"""A cluster that runs, as files of which a plan finds nothing, or next to nothing, to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from stockman.app.adoption.expected_plan import (
    ExpectedChange,
    ExpectedPlan,
    expect_plan,
    files_expected,
    mentions_guest,
)
from stockman.app.adoption.kubernetes import expected_kubernetes
from stockman.app.adoption.observation import AdoptionClients, observe_cluster
from stockman.assessment.adoption import problems as trouble
from stockman.assessment.adoption.cluster import MatchedMachine, RunningCluster
from stockman.assessment.adoption.cluster_keys import cluster_keys, header, region_of
from stockman.assessment.adoption.components import unsupported_components
from stockman.assessment.adoption.draft import Draft, draft_files, group_by_level, separate_by_node
from stockman.assessment.adoption.guests import guest_keys
from stockman.assessment.adoption.hardware import Keys, loose_disks
from stockman.assessment.adoption.matching import match_machines
from stockman.assessment.adoption.node_keys import extract_classes, node_keys
from stockman.assessment.adoption.operations import Operation, find_operations
from stockman.model.compatibility import talos_lines
from stockman.model.desired import Desired
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.planning.desired import DesiredState
from stockman.planning.fact import Fact
from stockman.planning.starter.observed import ApiConnection
from stockman.ports.system import Entropy
from stockman.talos.machine.values import changed_paths, configuration_values
from stockman.talos.patches.patch import PatchRefused
from stockman.talos.secrets.bundle import SecretsBundle
from stockman.talos.secrets.bundle_reader import import_bundle

_LACKS = "proxmox.lacks-privilege"


@record
class AdoptionOptions:
    """What the user says beside the files of clients."""

    reached: ApiConnection
    """How Proxmox was reached."""
    repository: str = ""
    """Address of the repository. Empty: the one that the cluster follows."""
    manages_guests: bool = False
    """Whether other guests are looked after from now on, where files can say all of them."""


@record
class Adoption:
    """A cluster in files, not yet written anywhere."""

    cluster: str
    draft: Draft
    bundle: SecretsBundle
    nodes: tuple[str, ...]
    guests: tuple[str, ...]
    invented: tuple[str, ...]
    """Keys that no system knows and that files need; to be checked by the user."""
    reached: ApiConnection
    """How Proxmox was reached."""
    keys: Mapping[str, Secret]
    """Keys that the cluster has, by the file that they are kept in."""
    expected: tuple[ExpectedChange, ...]
    """What a plan would contain."""
    problems: Problems
    """What is to be looked at; with an error among them no plan of the files is carried out."""

    @property
    def unsafe(self) -> tuple[ExpectedChange, ...]:
        return tuple(one for one in self.expected if not one.safe)

    @property
    def is_smooth(self) -> bool:
        """Whether a plan of the files finds nothing that anybody would notice."""
        return not self.unsafe and not self.problems.errors


class AdoptionFailed(Exception):
    """The cluster cannot be said in files; the problems say why."""

    def __init__(self, problems: Problems) -> None:
        super().__init__("; ".join(one.what for one in problems.errors))
        self.problems = problems


async def adopt_cluster(
    doors: AdoptionClients, wish: AdoptionOptions, entropy: Entropy
) -> Adoption:
    """Look at the cluster, and say it in files. Nothing is changed anywhere."""
    sight = _region_labels(await observe_cluster(doors, "pve"))
    problems = Problems()
    machines = match_machines(sight, problems)
    bundle = _read_bundle(sight, machines, problems)
    if bundle is None or problems.errors:
        raise AdoptionFailed(problems)
    return await _Adoption(sight, machines, bundle, wish, problems).result(doors, entropy)


def _region_labels(sight: RunningCluster) -> RunningCluster:
    regions = {one.region for one in sight.kubernetes.nodes or ()} - {""}
    state = sight.proxmox.state
    name = state.value.name if isinstance(state, Fact) else ""
    region = region_of(regions.pop() if len(regions) == 1 else "", name)
    return replace(sight, proxmox=replace(sight.proxmox, name=region))


def _read_bundle(
    sight: RunningCluster, machines: tuple[MatchedMachine, ...], problems: Problems
) -> SecretsBundle | None:
    controllers = [one.machine for one in machines if one.machine.is_controller]
    if not controllers:
        if not problems.errors:
            problems.add(trouble.no_machine("Talos", "none of the machines is a controller"))
        return None
    first = controllers[0]
    place = f"the machine configuration of {first.hostname}"
    bundle = import_bundle(place, first.configuration, problems)
    authority = sight.authority.strip()
    if bundle is not None and authority and bundle.certs.k8s.crt.strip() != authority:
        problems.add(trouble.other_authority())
    return bundle


class _Adoption:
    def __init__(
        self,
        sight: RunningCluster,
        machines: tuple[MatchedMachine, ...],
        bundle: SecretsBundle,
        wish: AdoptionOptions,
        problems: Problems,
    ) -> None:
        self._sight = sight
        self._machines = machines
        self._bundle = bundle
        self._wish = wish
        self._problems = problems
        described = cluster_keys(sight, machines, wish.reached)
        self._keys = described.keys
        self._invented = described.invented
        if wish.repository:
            self._keys = {**self._keys, "repository": {"url": wish.repository}}
            self._invented = tuple(one for one in self._invented if one != "repository.url")
        self._keys |= extract_classes(self._nodes())
        self._guests = self._other_guests()
        self._observed: set[object] = set()

    async def result(self, doors: AdoptionClients, entropy: Entropy) -> Adoption:
        contract, found = self._closest()
        self._say(contract)
        made = self._drafted(contract, found)
        ahead = await self._ahead(made, doors, entropy)
        while troubled := self._troubled(ahead):
            self._observed |= troubled
            made = self._drafted(contract, found)
            ahead = await self._ahead(made, doors, entropy)
        for one in ahead.unsafe:
            self._problems.add(trouble.differs(one.node or one.stage.value, one.what, one.why))
        self._problems.extend(self._later(ahead.problems))
        return Adoption(
            cluster=str(self._owner),
            draft=made,
            bundle=self._bundle,
            nodes=tuple(one.machine.hostname for one in self._machines),
            guests=tuple(str(one["name"]) for one in self._guests),
            invented=self._invented,
            reached=self._wish.reached,
            keys=self._sight.follows.keys,
            expected=(*ahead.expected, *files_expected(str(self._owner))),
            problems=self._problems,
        )

    @property
    def _owner(self) -> object:
        section = self._keys["cluster"]
        return section["name"] if isinstance(section, dict) else ""

    # --- keys -------------------------------------------------------------------------------

    def _nodes(self) -> list[Keys]:
        talos = self._keys.get("talos")
        shares = isinstance(talos, dict) and "schematic_id" in talos
        for one in self._machines:
            for slot in loose_disks(one.config):
                self._problems.add(trouble.loose_disk(one.machine.hostname, slot))
        return [node_keys(self._sight, one, shares_schematic=shares) for one in self._machines]

    def _other_guests(self) -> tuple[Keys, ...]:
        nodes = frozenset(int(one.guest.vmid) for one in self._machines)
        return guest_keys(self._sight.proxmox, str(self._owner), nodes, self._problems)

    def _whole(self, contract: Version) -> Keys:
        talos = self._keys["talos"]
        keys = {**self._keys, "talos": {**(talos if isinstance(talos, dict) else {})}}
        keys["talos"] = {**keys["talos"], "contract": contract.minor_text}  # type: ignore[dict-item]  # made above
        if self._guests:
            keys["guests"] = [{**one, "manage": self._managed(one)} for one in self._guests]
        return keys

    def _managed(self, guest: Keys) -> str:
        is_full = self._wish.manages_guests and guest["name"] not in self._observed
        return "full" if is_full else "observe"

    def _say(self, contract: Version) -> None:
        for name in unsupported_components(self._sight.kubernetes):
            self._problems.add(trouble.component(name))
        made = draft_files(self._whole(contract), {})
        for key in made.lost:
            self._problems.add(trouble.lost_value(key))

    # --- machine configurations -------------------------------------------------------------

    def _closest(self) -> tuple[Version, dict[str, tuple[Operation, ...]]]:
        """The contract in whose style the machines are, and what they have besides."""
        best: tuple[Version, dict[str, tuple[Operation, ...]]] | None = None
        for line in talos_lines():
            if line.line.line > self._sight.version.line:
                continue
            found = self._different(line.line)
            if best is None or _size(found) <= _size(best[1]):
                best = (line.line, found)
        if best is None:
            raise ValueError("no contract for a version that is known")
        return best

    def _different(self, contract: Version) -> dict[str, tuple[Operation, ...]]:
        made = draft_files(self._whole(contract), {})
        configurations = self._configurations(made)
        return {
            one.machine.hostname: find_operations(
                configurations[one.machine.hostname],
                one.machine.configuration,
                self._sight.minor,
            )
            for one in self._machines
        }

    def _drafted(self, contract: Version, found: Mapping[str, tuple[Operation, ...]]) -> Draft:
        """Files with what is common said once, unless the machines would differ from it then."""
        controllers = frozenset(
            one.machine.hostname for one in self._machines if one.machine.is_controller
        )
        head = header(self._invented)
        common = draft_files(self._whole(contract), group_by_level(found, controllers), head)
        apart = draft_files(self._whole(contract), separate_by_node(found), head)
        return common if self._left(common) <= self._left(apart) else apart

    def _left(self, made: Draft) -> int:
        """How many values still differ; more than there can be where patches do not apply."""
        try:
            configurations = self._configurations(made)
        except PatchRefused:
            return 1 << 30
        return sum(
            len(
                changed_paths(
                    configuration_values(configurations[one.machine.hostname], self._sight.minor),
                    one.machine.values,
                )
            )
            for one in self._machines
        )

    def _configurations(self, made: Draft) -> dict[str, Secret]:
        desired = self._desired(made)
        assembly = made.assembly(desired, self._bundle)
        return {str(node.name): assembly.of(node).text() for node in desired.nodes}

    def _desired(self, made: Draft) -> Desired:
        problems = Problems()
        desired = made.desired(problems)
        if desired is None:
            raise AdoptionFailed(problems)
        return desired

    # --- what a plan would say --------------------------------------------------------------

    async def _ahead(self, made: Draft, doors: AdoptionClients, entropy: Entropy) -> ExpectedPlan:
        desired = self._desired(made)
        wishes = DesiredState(
            desired=desired,
            configurations=self._configurations(made),
            kubernetes=expected_kubernetes(desired, self._sight.follows.keys),
        )
        return await expect_plan(wishes, doors, entropy)

    def _later(self, problems: Problems) -> Iterator[Problem]:
        """What a plan would say; rights are only needed to carry it out."""
        for one in problems:
            if one.code != _LACKS:
                yield one
            elif self._wish.reached.token_is_given:
                yield replace(one, severity=Severity.WARNING)

    def _troubled(self, ahead: ExpectedPlan) -> set[object]:
        """Guests that files do not say in full, and that are only watched therefore."""
        full = {one["name"] for one in self._guests if self._managed(one) == "full"}
        changed = {one.node for one in ahead.unsafe}
        told = [one for one in ahead.problems if one.is_error]
        return {
            name
            for name in full
            if name in changed or any(mentions_guest(one, str(name)) for one in told)
        }


def _size(found: Mapping[str, tuple[Operation, ...]]) -> int:
    return sum(len(every) for every in found.values())
