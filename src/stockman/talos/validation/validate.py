"""Load the text of a configuration, and check it by all rules of `talosctl validate`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from stockman.config.source.tree import MappingEntry, MappingNode, TreeNode
from stockman.model.errors import StockmanError
from stockman.model.origin import Origin, Position
from stockman.model.problem import Problem, Problems
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.decode import (
    V1ALPHA1,
    ConfigDocument,
    Decoder,
    Path,
    decode_document,
    unknown_field_error,
)
from stockman.talos.patches.patch import InvalidValue, path_text, read_documents
from stockman.talos.patches.schema import UNWRITTEN, SchemaType, Tree, TypeSchema, load_schema
from stockman.talos.validation import (
    kubernetes_documents,
    link_documents,
    network_documents,
    storage_documents,
    system_documents,
)
from stockman.talos.validation.cluster_section import check_cluster, check_cni
from stockman.talos.validation.cross_document import (
    DocumentSet,
    check_conflicts,
    check_document_set,
)
from stockman.talos.validation.interfaces import check_interfaces, virtual_addresses
from stockman.talos.validation.machine_section import (
    WORKER,
    check_machine,
    is_control_plane,
    machine_type,
)
from stockman.talos.validation.report import (
    ConfigValue,
    Rule,
    RuntimeMode,
    ValidationReport,
    root_value,
)

RULES: dict[str, tuple[Rule, ...]] = {
    **kubernetes_documents.RULES,
    **link_documents.RULES,
    **network_documents.RULES,
    **storage_documents.RULES,
    **system_documents.RULES,
}
"""Rules by kind of document; other kinds have no rules beyond their schema."""


def validate(
    documents: Iterable[ConfigDocument], minor: str, mode: RuntimeMode, *, strict: bool = False
) -> Problems:
    """Return all errors and warnings that Talos of a minor reports for a configuration.

    `strict` turns warnings about the v1alpha1 document into errors, as in Talos.
    """
    report = ValidationReport(int(minor.partition(".")[2]), mode, strict)
    v1alpha1: ConfigValue | None = None
    additional: list[ConfigValue] = []
    for document in documents:
        root = root_value(document, report)
        if document.kind.name == V1ALPHA1:
            v1alpha1 = root
            _check_v1alpha1(root)
            continue
        additional.append(root)
        for rule in RULES.get(document.kind.name, ()):
            rule(root)
    if v1alpha1 is not None:
        check_conflicts(v1alpha1, additional)
    if report.minor >= 14:
        absent = ConfigValue(None, "", "", UNWRITTEN, report)
        check_document_set(DocumentSet(v1alpha1, additional, absent))
    return report.problems


def _check_v1alpha1(config: ConfigValue) -> None:
    machine, cluster = config["machine"], config["cluster"]
    if not machine.present:
        machine.error(
            "machine.section",
            "the section machine is missing",
            why="it defines the type of the machine",
            fix="use it from the configuration of another machine of the cluster",
        )
        return
    kind = machine_type(machine)
    controls = is_control_plane(kind)
    check_cluster(cluster, controls=controls)
    if controls:
        check_cni(cluster)
    check_machine(machine)
    check_interfaces(machine)
    if kind == WORKER:
        _check_shared_addresses(machine)
    if config.minor < 14 and machine.down("network.kubespan.enabled").flag:
        _check_kubespan_identity(cluster)
    persist = config["persist"]
    if persist.present and not persist.flag:
        persist.error(
            "machine.section",
            "persist is false",
            why="the machine would lose its configuration at every start",
            fix="set `persist: true`, or remove the key",
        )


def _check_shared_addresses(machine: ConfigValue) -> None:
    for shared in virtual_addresses(machine):
        shared.error(
            "machine.worker-vip",
            f"{shared.name} is a virtual IP of control planes",
            why="this machine is a worker without a Kubernetes API",
            fix="remove it from workers",
        )


def _check_kubespan_identity(cluster: ConfigValue) -> None:
    """Check the settings of the cluster that KubeSpan needs to find its peers."""
    discovery = cluster.down("discovery.enabled")
    if not discovery.flag:
        discovery.error(
            "machine.discovery",
            "KubeSpan is enabled, but cluster.discovery is disabled",
            why="KubeSpan peers find each other by discovery",
            fix="set `discovery: {enabled: true}` in the section cluster",
        )
    for key in ("id", "secret"):
        if not cluster[key].text:
            cluster[key].error(
                "machine.discovery",
                f"KubeSpan is enabled, but cluster.{key} is missing",
                why="KubeSpan peers find each other by discovery, which needs it",
                fix=f"use `cluster.{key}` of the secrets bundle",
            )


_MACHINE_CODES = {
    "patch.field": "machine.field",
    "patch.kind": "machine.kind",
    "patch.result": "machine.clash",
    "patch.twice": "machine.twice",
    "patch.unreadable": "machine.unreadable",
    "patch.value": "machine.value",
}
"""The codes of problems in a patch, and those of the same problems in a configuration."""


def load_configuration(
    file: str, text: str, minor: str, problems: Problems
) -> tuple[ConfigDocument, ...] | None:
    """Return the documents of a text. None: Talos cannot read it, and `problems` say why."""
    try:
        return load_documents(file, text, minor)
    except StockmanError as error:
        collected = _collect_problems(file, text, load_schema(minor)) or [error.problem]
        for problem in collected:
            problems.add(replace(problem, code=_MACHINE_CODES.get(problem.code, problem.code)))
        return None


def _collect_problems(file: str, text: str, schema: TypeSchema) -> list[Problem]:
    """Return the problems of each document on its own, one per position."""
    try:
        nodes = read_documents(file, text)
    except InvalidValue:
        return []
    errors: dict[Position | None, InvalidValue] = {}

    def note(error: InvalidValue) -> None:
        errors.setdefault(error.at, error)

    decoder = _CollectingDecoder(schema, note)
    for node in nodes:
        if isinstance(node, MappingNode):
            try:
                decode_document(schema, node, decoder)
            except InvalidValue as error:
                note(error)
    return [error.error(file, at).problem for at, error in errors.items()]


class _CollectingDecoder(Decoder):
    """A decoder that records invalid values, leaves them out, and continues."""

    def __init__(self, schema: TypeSchema, note: Callable[[InvalidValue], None]) -> None:
        super().__init__(schema, lambda node, path: Origin(node.at, path_text(path)))
        self._note = note

    def decode(self, type_: SchemaType, node: TreeNode, path: Path = ()) -> Tree | None:
        if type_.kind == "struct" and isinstance(node, MappingNode) and type_.free is None:
            node = MappingNode(node.at, self._known_entries(type_, node, path))
        try:
            return super().decode(type_, node, path)
        except InvalidValue as error:
            self._note(error)
            return None

    def _known_entries(
        self, type_: SchemaType, node: MappingNode, path: Path
    ) -> dict[str, MappingEntry]:
        if type_.codec and not type_.codec.startswith("x509."):
            return node.entries
        kept = {}
        for key, entry in node.entries.items():
            if key in type_.named:
                kept[key] = entry
            else:
                self._note(unknown_field_error(entry.key, (*path, key), type_))
        return kept
