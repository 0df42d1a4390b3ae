"""Values of a document as validation rules see them, and the report of their problems."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from stockman.model.origin import Origin
from stockman.model.problem import Problem, Problems, Severity
from stockman.talos.patches.documents import V1ALPHA1, ConfigDocument
from stockman.talos.patches.tree import Branch, Items, Leaf, Tree


class ConfigValue:
    """A value in a document, present or not, with its path and position."""

    __slots__ = ("_near", "label", "path", "tree")

    def __init__(self, tree: Tree | None, path: str, label: str, near: Origin) -> None:
        self.tree = tree
        self.path = path
        self.label = label
        """The document, `LinkConfig eth0`. Empty: the v1alpha1 document."""
        self._near = near

    def __getitem__(self, key: str) -> ConfigValue:
        inner = self.tree.get(key) if isinstance(self.tree, Branch) else None
        path = f"{self.path}.{key}" if self.path else key
        return ConfigValue(inner, path, self.label, self.origin if inner is None else inner.origin)

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
                yield ConfigValue(item, f"{self.path}[{index}]", self.label, item.origin)

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


def root_value(document: ConfigDocument) -> ConfigValue:
    """Return a document as a value."""
    label = "" if document.kind.name == V1ALPHA1 else document.label
    return ConfigValue(document.tree, "", label, document.tree.origin)


class RuntimeMode(Enum):
    """Where a machine runs, as far as validation depends on it."""

    METAL = "metal"
    CLOUD = "cloud"


class ValidationReport:
    """Collects problems for one minor and mode."""

    def __init__(self, minor: str, mode: RuntimeMode, *, strict: bool = False) -> None:
        self.problems = Problems()
        self.minor = int(minor.partition(".")[2])
        """13 for 1.13."""
        self.mode = mode
        self._strict = strict

    def error(self, code: str, field: ConfigValue, what: str, *, why: str, fix: str) -> None:
        self._add(code, field, what, why, fix, Severity.ERROR)

    def warn(  # noqa: PLR0913 - the fields of a problem, and one more
        self, code: str, field: ConfigValue, what: str, *, why: str, fix: str, counts: bool = False
    ) -> None:
        """Report a warning of Talos; with `counts`, strict mode makes it an error.

        Only warnings about the v1alpha1 document count.
        """
        severity = Severity.ERROR if counts and self._strict else Severity.WARNING
        self._add(code, field, what, why, fix, severity)

    def missing(self, field: ConfigValue, why: str, fix: str = "") -> None:
        """Report a required value that is absent."""
        self.error(
            "machine.required",
            field,
            f"{field.name} is missing",
            why=why,
            fix=fix or f"set {field.path.rpartition('.')[2]}",
        )

    def _add(  # noqa: PLR0913 - the fields of a problem
        self, code: str, field: ConfigValue, what: str, why: str, fix: str, severity: Severity
    ) -> None:
        origin = field.origin
        where = origin.at if not origin.is_derived else field.name
        self.problems.add(
            Problem(code=code, what=what, why=why, fix=fix, where=where, severity=severity)
        )
