"""The description of a running cluster as files whose first plan changes little or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from stockman.assessment.adoption import problems as trouble
from stockman.assessment.adoption.cluster import MatchedMachine, RunningCluster, match_machines
from stockman.assessment.adoption.cluster_keys import (
    cluster_keys,
    components_to_describe,
    header,
    region_of,
)
from stockman.assessment.adoption.draft import (
    Draft,
    Operation,
    draft_files,
    find_operations,
    group_by_level,
    separate_by_node,
)
from stockman.assessment.adoption.expected_plan import (
    ExpectedChange,
    ExpectedPlan,
    first_plan_files,
    mentions_guest,
)
from stockman.assessment.adoption.hardware import Keys, guest_keys, loose_disks
from stockman.assessment.adoption.node_keys import extract_classes, node_keys
from stockman.model.compatibility import talos_lines
from stockman.model.desired import Desired
from stockman.model.problem import Problem, Problems, Severity
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.version import Version
from stockman.planning.fact import Fact
from stockman.planning.starter.observed import ApiConnection
from stockman.talos.machine.masking import changed_paths, configuration_values
from stockman.talos.patches.patch import PatchRefused
from stockman.talos.secrets.bundle import SecretsBundle
from stockman.talos.secrets.bundle_reader import import_bundle

_LACKS = "proxmox.lacks-privilege"


@record
class AdoptionOptions:
    """Options of the user besides the client configuration files."""

    connection: ApiConnection
    """The connection to Proxmox VE."""
    repository: str = ""
    """URL of the repository. Empty: the one that the cluster follows."""
    manages_guests: bool = False
    """Whether stockman manages other guests too, where the files can describe them completely."""


_LOSSES = frozenset({"adopt.component", "adopt.lost", "adopt.values"})


@record
class Adoption:
    """A cluster as files that are not written yet."""

    cluster: str
    draft: Draft
    bundle: SecretsBundle
    nodes: tuple[str, ...]
    guests: tuple[str, ...]
    placeholders: tuple[str, ...]
    """Keys whose values are placeholders, which the user must check."""
    connection: ApiConnection
    """The connection to Proxmox VE."""
    keys: Mapping[str, Secret]
    """Private keys found in the cluster, by the name of the file that holds them."""
    expected: tuple[ExpectedChange, ...]
    """Changes that the first plan would contain."""
    problems: Problems
    """Warnings and errors; an error blocks the plan of the files."""

    @property
    def unsafe(self) -> tuple[ExpectedChange, ...]:
        return tuple(change for change in self.expected if not change.safe)

    @property
    def is_smooth(self) -> bool:
        """Whether the first plan has no noticeable effect, and no setting is left out."""
        return not self.unsafe and not self.problems.errors and not self.has_losses

    @property
    def has_losses(self) -> bool:
        """Whether a setting of the cluster is not in the files."""
        return any(problem.code in _LOSSES for problem in self.problems)


class AdoptionFailed(Exception):
    """The cluster cannot be described as files; the problems say why."""

    def __init__(self, problems: Problems) -> None:
        super().__init__("; ".join(error.what for error in problems.errors))
        self.problems = problems


def _region_labels(cluster: RunningCluster) -> RunningCluster:
    regions = {node.region for node in cluster.kubernetes.nodes or ()} - {""}
    state = cluster.proxmox.state
    name = state.value.name if isinstance(state, Fact) else ""
    region = region_of(regions.pop() if len(regions) == 1 else "", name)
    return replace(cluster, proxmox=replace(cluster.proxmox, name=region))


def _read_bundle(
    cluster: RunningCluster, machines: tuple[MatchedMachine, ...], problems: Problems
) -> SecretsBundle | None:
    controllers = [machine.machine for machine in machines if machine.machine.is_controller]
    if not controllers:
        if not problems.errors:
            problems.add(trouble.no_machine("Talos", "none of the machines is a controller"))
        return None
    first = controllers[0]
    origin = f"the machine configuration of {first.hostname}"
    bundle = import_bundle(origin, first.configuration, problems)
    authority = cluster.authority.strip()
    if bundle is not None and authority and bundle.certs.k8s.crt.strip() != authority:
        problems.add(trouble.other_authority())
    return bundle


class ClusterDescription:
    """Describes a running cluster as files: keys, guests and patches."""

    def __init__(
        self,
        cluster: RunningCluster,
        machines: tuple[MatchedMachine, ...],
        bundle: SecretsBundle,
        options: AdoptionOptions,
        problems: Problems,
    ) -> None:
        self._cluster = cluster
        self._machines = machines
        self._bundle = bundle
        self._options = options
        self._problems = problems
        described = cluster_keys(cluster, machines, options.connection)
        self._keys = described.keys
        self._placeholders = described.placeholders
        if options.repository:
            self._keys = {**self._keys, "repository": {"url": options.repository}}
            self._placeholders = tuple(key for key in self._placeholders if key != "repository.url")
        self._keys |= extract_classes(self._nodes())
        self._guests = self._other_guests()
        self._observed: set[object] = set()

    def adoption(self, draft: Draft, plan: ExpectedPlan) -> Adoption:
        """Return the adoption of a draft with its expected plan."""
        for change in plan.unsafe:
            self._problems.add(
                trouble.differs(change.node or change.stage.value, change.description, change.why)
            )
        self._problems.extend(self._planning_problems(plan.problems))
        return Adoption(
            cluster=str(self._owner),
            draft=draft,
            bundle=self._bundle,
            nodes=tuple(machine.machine.hostname for machine in self._machines),
            guests=tuple(str(guest["name"]) for guest in self._guests),
            placeholders=self._placeholders,
            connection=self._options.connection,
            keys=self._cluster.gitops.keys,
            expected=(*plan.expected, *first_plan_files(str(self._owner))),
            problems=self._problems,
        )

    @property
    def keys(self) -> Mapping[str, Secret]:
        """Private keys found in the cluster, by the name of the file that holds them."""
        return self._cluster.gitops.keys

    def exclude_guests(self, names: Iterable[object]) -> None:
        """Only observe these guests from now on."""
        self._observed |= set(names)

    @property
    def _owner(self) -> object:
        section = self._keys["cluster"]
        return section["name"] if isinstance(section, dict) else ""

    # --- keys -------------------------------------------------------------------------------

    def _nodes(self) -> list[Keys]:
        talos = self._keys.get("talos")
        shares = isinstance(talos, dict) and "schematic_id" in talos
        for machine in self._machines:
            for slot in loose_disks(machine.config):
                self._problems.add(trouble.loose_disk(machine.machine.hostname, slot))
        return [
            node_keys(self._cluster, machine, shares_schematic=shares) for machine in self._machines
        ]

    def _other_guests(self) -> tuple[Keys, ...]:
        nodes = frozenset(int(machine.guest.vmid) for machine in self._machines)
        return guest_keys(self._cluster.proxmox, str(self._owner), nodes, self._problems)

    def _all_keys(self, contract: Version) -> Keys:
        talos = self._keys["talos"]
        keys = {**self._keys, "talos": {**(talos if isinstance(talos, dict) else {})}}
        keys["talos"] = {**keys["talos"], "contract": contract.minor_text}  # type: ignore[dict-item]  # made above
        if self._guests:
            keys["guests"] = [
                {**guest, "manage": self._manage_guests(guest)} for guest in self._guests
            ]
        return keys

    def _manage_guests(self, guest: Keys) -> str:
        is_full = self._options.manages_guests and guest["name"] not in self._observed
        return "full" if is_full else "observe"

    def report_losses(self, contract: Version) -> None:
        """Add problems for everything that the files cannot describe."""
        for name in components_to_describe(self._cluster.kubernetes):
            self._problems.add(trouble.component(name))
        draft = draft_files(self._all_keys(contract), {})
        for key in draft.lost:
            self._problems.add(trouble.lost_value(key))

    def report_release_values(self, rendered: Mapping[str, Mapping[str, object]]) -> None:
        """Add problems for values of Helm releases that the rendered releases do not have."""
        for name, values in self._cluster.gitops.values.items():
            if name not in rendered:
                continue
            ours, theirs = dict(_leaves(rendered[name])), dict(_leaves(values))
            differ = [path for path in {**theirs, **ours} if theirs.get(path) != ours.get(path)]
            if differ:
                self._problems.add(trouble.lost_release_values(name, differ))

    # --- machine configurations -------------------------------------------------------------

    def closest_contract(self) -> tuple[Version, dict[str, tuple[Operation, ...]]]:
        """Return the contract that matches the machines best, and the remaining operations."""
        best: tuple[Version, dict[str, tuple[Operation, ...]]] | None = None
        for line in talos_lines():
            if line.line.line > self._cluster.version.line:
                continue
            operations = self._differences(line.line)
            if best is None or _size(operations) <= _size(best[1]):
                best = (line.line, operations)
        if best is None:
            raise ValueError("no contract for a version that is known")
        return best

    def _differences(self, contract: Version) -> dict[str, tuple[Operation, ...]]:
        draft = draft_files(self._all_keys(contract), {})
        configurations = self.configurations(draft)
        return {
            machine.machine.hostname: find_operations(
                configurations[machine.machine.hostname],
                machine.machine.configuration,
                self._cluster.minor,
            )
            for machine in self._machines
        }

    def draft(self, contract: Version, operations: Mapping[str, tuple[Operation, ...]]) -> Draft:
        """Return files with shared patches, or with patches per node if sharing would change
        machines."""
        controllers = frozenset(
            machine.machine.hostname for machine in self._machines if machine.machine.is_controller
        )
        head = header(self._placeholders)
        common = draft_files(
            self._all_keys(contract), group_by_level(operations, controllers), head
        )
        apart = draft_files(self._all_keys(contract), separate_by_node(operations), head)
        return common if self._left(common) <= self._left(apart) else apart

    def _left(self, draft: Draft) -> int:
        """Return how many values still differ; a large number if the patches do not apply."""
        try:
            configurations = self.configurations(draft)
        except PatchRefused:
            return 1 << 30
        return sum(
            len(
                changed_paths(
                    configuration_values(
                        configurations[machine.machine.hostname], self._cluster.minor
                    ),
                    machine.machine.values,
                )
            )
            for machine in self._machines
        )

    def configurations(self, draft: Draft) -> dict[str, Secret]:
        """Return the machine configurations of a draft by node."""
        desired = self.load_desired(draft)
        assembly = draft.assembly(desired, self._bundle)
        return {str(node.name): assembly.of(node).text() for node in desired.nodes}

    def load_desired(self, draft: Draft) -> Desired:
        """Return the desired state of a draft. Raises `AdoptionFailed`."""
        problems = Problems()
        desired = draft.load_desired(problems)
        if desired is None:
            raise AdoptionFailed(problems)
        return desired

    # --- the expected plan -----------------------------------------------------------------

    def _planning_problems(self, problems: Problems) -> Iterator[Problem]:
        """Return problems of the plan, without missing privileges, which only matter when it is
        applied."""
        for problem in problems:
            if problem.code != _LACKS:
                yield problem
            elif self._options.connection.token_is_given:
                yield replace(problem, severity=Severity.WARNING)

    def unmanageable_guests(self, plan: ExpectedPlan) -> set[object]:
        """Return guests that the files cannot describe completely and that are only observed."""
        full = {item["name"] for item in self._guests if self._manage_guests(item) == "full"}
        changed = {item.node for item in plan.unsafe}
        errors = [item for item in plan.problems if item.is_error]
        return {
            name
            for name in full
            if name in changed or any(mentions_guest(item, str(name)) for item in errors)
        }


def _leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping) and value:
        for key, item in value.items():
            yield from _leaves(item, f"{path}.{key}" if path else str(key))
    else:
        yield path, value


def _size(operations: Mapping[str, tuple[Operation, ...]]) -> int:
    return sum(len(every) for every in operations.values())


def describe_cluster(cluster: RunningCluster, options: AdoptionOptions) -> ClusterDescription:
    """Match machines, VMs and nodes of a cluster, and describe it. Raises `AdoptionFailed`."""
    cluster = _region_labels(cluster)
    problems = Problems()
    machines = match_machines(cluster, problems)
    bundle = _read_bundle(cluster, machines, problems)
    if bundle is None or problems.errors:
        raise AdoptionFailed(problems)
    return ClusterDescription(cluster, machines, bundle, options, problems)
