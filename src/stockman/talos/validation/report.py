"""Parts of a document as its rules look at them: what is absent has the zero value."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from stockman.model.origin import Origin
from stockman.model.problem import Problem, Problems, Severity
from stockman.talos.patches.documents import V1ALPHA1, ConfigDocument
from stockman.talos.patches.tree import Branch, Items, Leaf, Tree


class ConfigValue:
    """A value in a document, present or not, with its path and its place."""

    __slots__ = ("_near", "label", "path", "tree")

    def __init__(self, tree: Tree | None, path: str, label: str, near: Origin) -> None:
        self.tree = tree
        self.path = path
        self.label = label
        """The document, `LinkConfig eth0`. Empty: the oldest one, whose paths speak for it."""
        self._near = near

    def __getitem__(self, key: str) -> ConfigValue:
        inner = self.tree.get(key) if isinstance(self.tree, Branch) else None
        path = f"{self.path}.{key}" if self.path else key
        return ConfigValue(inner, path, self.label, self.origin if inner is None else inner.origin)

    def down(self, path: str) -> ConfigValue:
        """The part below, `ca.key`."""
        part = self
        for key in path.split("."):
            part = part[key]
        return part

    @property
    def origin(self) -> Origin:
        """Where it was written; of an absent part, where its parent was."""
        return self._near if self.tree is None else self.tree.origin

    @property
    def name(self) -> str:
        """How people call it."""
        if not self.label:
            return self.path or "the configuration"
        return f"{self.path} of {self.label}" if self.path else self.label

    @property
    def present(self) -> bool:
        """Whether it was written, and is not null."""
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
        """The value itself, where its type is free."""
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
        """What a mapping holds, by its keys in their order."""
        return {key: self[key] for key in self.tree} if isinstance(self.tree, Branch) else {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing stands in it: absent, an empty text, list or mapping."""
        if isinstance(self.tree, Leaf):
            return self.tree.value in (None, "")
        return not self.tree


def root_value(document: ConfigDocument) -> ConfigValue:
    """The whole of a document."""
    label = "" if document.kind.name == V1ALPHA1 else document.label
    return ConfigValue(document.tree, "", label, document.tree.origin)


class RuntimeMode(Enum):
    """Where a machine runs, as far as its configuration has to know."""

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

    def error(self, code: str, part: ConfigValue, what: str, *, why: str, fix: str) -> None:
        self._add(code, part, what, why, fix, Severity.ERROR)

    def warn(  # noqa: PLR0913 - the fields of a problem, and one more
        self, code: str, part: ConfigValue, what: str, *, why: str, fix: str, counts: bool = False
    ) -> None:
        """Something that Talos says and takes; `counts`: not if it is strict.

        Only warnings about the oldest document count; others are never more than that.
        """
        severity = Severity.ERROR if counts and self._strict else Severity.WARNING
        self._add(code, part, what, why, fix, severity)

    def missing(self, part: ConfigValue, why: str, fix: str = "") -> None:
        """A part that has to be there is not."""
        self.error(
            "machine.required",
            part,
            f"{part.name} is missing",
            why=why,
            fix=fix or f"write {part.path.rpartition('.')[2]}",
        )

    def _add(  # noqa: PLR0913 - the fields of a problem
        self, code: str, part: ConfigValue, what: str, why: str, fix: str, severity: Severity
    ) -> None:
        origin = part.origin
        where = origin.at if not origin.is_derived else part.name
        self.problems.add(
            Problem(code=code, what=what, why=why, fix=fix, where=where, severity=severity)
        )
