"""Values of a document as validation rules see them, their checks, and the reported problems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from enum import Enum

from stockman.model.origin import Origin
from stockman.model.problem import Problem, Problems, Severity
from stockman.talos.patches.decode import V1ALPHA1, ConfigDocument
from stockman.talos.patches.schema import Branch, Items, Leaf, Tree


class RuntimeMode(Enum):
    """Where a machine runs, as far as validation depends on it."""

    METAL = "metal"
    CLOUD = "cloud"


@dataclass(slots=True)
class ValidationReport:
    """The problems of a configuration, and what the rules depend on."""

    minor: int
    """13 for 1.13."""
    mode: RuntimeMode
    strict: bool = False
    """Whether warnings about the v1alpha1 document are errors, as in Talos."""
    problems: Problems = field(default_factory=Problems)


class ConfigValue:
    """A value in a document, present or not, with its path and position."""

    __slots__ = ("_near", "label", "path", "report", "tree")

    def __init__(
        self, tree: Tree | None, path: str, label: str, near: Origin, report: ValidationReport
    ) -> None:
        self.tree = tree
        self.path = path
        self.label = label
        """The document, `LinkConfig eth0`. Empty: the v1alpha1 document."""
        self._near = near
        self.report = report

    def __getitem__(self, key: str) -> ConfigValue:
        inner = self.tree.get(key) if isinstance(self.tree, Branch) else None
        path = f"{self.path}.{key}" if self.path else key
        near = self.origin if inner is None else inner.origin
        return ConfigValue(inner, path, self.label, near, self.report)

    def down(self, path: str) -> ConfigValue:
        """Return the value at a path below, `ca.key`."""
        value = self
        for key in path.split("."):
            value = value[key]
        return value

    @property
    def origin(self) -> Origin:
        """Where the value was written; for an absent value, its parent."""
        return self._near if self.tree is None else self.tree.origin

    @property
    def name(self) -> str:
        """The name for messages."""
        if not self.label:
            return self.path or "the configuration"
        return f"{self.path} of {self.label}" if self.path else self.label

    @property
    def kind(self) -> str:
        """The kind of the document."""
        return self.label.partition(" ")[0]

    @property
    def minor(self) -> int:
        return self.report.minor

    @property
    def present(self) -> bool:
        """Whether the value exists and is not null."""
        if isinstance(self.tree, Leaf):
            return self.tree.value is not None
        return self.tree is not None

    @property
    def text(self) -> str:
        return str(self.tree.value) if isinstance(self.tree, Leaf) and self.present else ""

    @property
    def number(self) -> int:
        value = self.tree.value if isinstance(self.tree, Leaf) else 0
        return value if isinstance(value, int) else 0

    @property
    def flag(self) -> bool:
        return isinstance(self.tree, Leaf) and self.tree.value is True

    @property
    def value(self) -> object:
        """The value itself, for free-form types."""
        return self.tree.value if isinstance(self.tree, Leaf) else None

    @property
    def is_list(self) -> bool:
        return isinstance(self.tree, Items)

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.tree, Branch)

    @property
    def items(self) -> list[ConfigValue]:
        """The items of a list; a single value counts as a list of one."""
        if isinstance(self.tree, Leaf) and self.present:
            return [self]
        return list(self._items())

    def _items(self) -> Iterator[ConfigValue]:
        if isinstance(self.tree, Items):
            for index, item in enumerate(self.tree):
                path = f"{self.path}[{index}]"
                yield ConfigValue(item, path, self.label, item.origin, self.report)

    @property
    def texts(self) -> list[str]:
        return [item.text for item in self.items]

    @property
    def entries(self) -> dict[str, ConfigValue]:
        """The values of a mapping by key, in their order."""
        return {key: self[key] for key in self.tree} if isinstance(self.tree, Branch) else {}

    @property
    def is_empty(self) -> bool:
        """Whether it is absent, or an empty text, list or mapping."""
        if isinstance(self.tree, Leaf):
            return self.tree.value in (None, "")
        return not self.tree

    def error(self, code: str, what: str, *, why: str, fix: str) -> None:
        """Report an error of this value."""
        self._add(code, what, why, fix, Severity.ERROR)

    def warn(self, code: str, what: str, *, why: str, fix: str) -> None:
        """Report a warning; strict mode makes an error of one about the v1alpha1 document."""
        is_error = self.report.strict and not self.label
        self._add(code, what, why, fix, Severity.ERROR if is_error else Severity.WARNING)

    def missing(self, why: str, fix: str = "") -> None:
        """Report that this required value is absent."""
        fix = fix or f"set {self.path.rpartition('.')[2]}"
        self.error("machine.required", f"{self.name} is missing", why=why, fix=fix)

    def require(self, why: str, fix: str = "") -> bool:
        """Report the value if it is absent or empty, and return whether it is there."""
        if self.is_empty:
            self.missing(why, fix)
        return not self.is_empty

    def check_word(
        self,
        words: Collection[str],
        why: str = "it must be one of {}",
        fix: str = "use one of these",
    ) -> None:
        """Check that a text, if there is one, is one of some words."""
        if self.text and self.text not in words:
            what = f"{self.name} is {self.text!r}"
            self.error("machine.word", what, why=why.format(", ".join(words)), fix=fix)

    def check_range(self, low: int, high: int, what: str, fix: str) -> None:
        """Check that a number is in a range; `what` names such numbers."""
        if not low <= self.number <= high:
            why = f"{what} {low} to {high}"
            self.error("machine.range", f"{self.name} is {self.number}", why=why, fix=fix)

    def check_not_negative(self) -> None:
        """Check that a time or number is not negative."""
        if self.text.startswith("-") and self.text != "-0":
            why, fix = "it must not be negative", "remove the minus, or leave it out"
            self.error("machine.range", f"{self.name} is {self.text}", why=why, fix=fix)

    def _add(self, code: str, what: str, why: str, fix: str, severity: Severity) -> None:
        where = self.name if self.origin.is_derived else self.origin.at
        self.report.problems.add(
            Problem(code=code, what=what, why=why, fix=fix, where=where, severity=severity)
        )


def root_value(document: ConfigDocument, report: ValidationReport) -> ConfigValue:
    """Return a document as a value."""
    label = "" if document.kind.name == V1ALPHA1 else document.label
    return ConfigValue(document.tree, "", label, document.tree.origin, report)


Rule = Callable[[ConfigValue], None]
"""Reports what is wrong with a document."""


def required(path: str, why: str) -> Rule:
    """Return the rule that the value at a path is required."""

    def check(document: ConfigValue) -> None:
        document.down(path).require(why)

    return check


def not_negative(*keys: str) -> Rule:
    """Return the rule that some numbers or times are not negative."""

    def check(document: ConfigValue) -> None:
        for key in keys:
            document[key].check_not_negative()

    return check


def check_name(document: ConfigValue) -> None:
    """Check that a document has a name."""
    if not document["name"].text:
        document["name"].missing(f"a {document.kind} is identified by its name")
