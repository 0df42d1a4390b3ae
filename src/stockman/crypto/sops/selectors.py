"""Selectors, which choose the encrypted values of a file, and the creation rules of `.sops.yaml`.

SOPS uses regular expressions of Go, whose syntax is that of RE2."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stockman.crypto.age.identities import parse_recipient
from stockman.crypto.sops import problems
from stockman.crypto.sops.config_reader import read_config_yaml
from stockman.crypto.sops.problems import Location
from stockman.crypto.sops.tree import (
    ParsedFile,
    SopsComment,
    SopsEntry,
    SopsMapping,
    SopsNode,
    SopsScalar,
    SopsSequence,
)
from stockman.model.errors import NotFound, Refused
from stockman.model.origin import Position
from stockman.model.problem import Problem
from stockman.model.record import record


class GoRegex:
    """A regular expression in the syntax of Go. Its time grows linearly with the text."""

    def __init__(self, expression: str) -> None:
        """Raises ValueError if Go does not support the expression."""
        import re2  # most commands need no expression

        options = re2.Options()
        options.log_errors = False
        if r"\C" in expression.replace(r"\\", ""):
            raise ValueError(r"\C is not known to Go")
        try:
            self._regex = re2.compile(expression, options)
        except re2.error as error:
            (message,) = error.args
            raise ValueError(
                message.decode(errors="replace") if isinstance(message, bytes) else str(message)
            ) from None

    def matches(self, text: str) -> bool:
        """Return whether the expression matches anywhere in the text."""
        return self._regex.search(text.encode(errors="replace").decode()) is not None


SELECTOR_NAMES = (
    "unencrypted_suffix",
    "encrypted_suffix",
    "unencrypted_regex",
    "encrypted_regex",
    "unencrypted_comment_regex",
    "encrypted_comment_regex",
)
DEFAULT_SUFFIX = "_unencrypted"


@record
class Selector:
    """Selects the values to encrypt. With an empty name, all values are encrypted."""

    name: str = "unencrypted_suffix"
    pattern: str = DEFAULT_SUFFIX

    @property
    def is_inverse(self) -> bool:
        """Whether a match leaves a value unencrypted."""
        return self.name.startswith("unencrypted") or not self.name

    @property
    def by_comment(self) -> bool:
        return self.name.endswith("comment_regex")

    def compile(self) -> Matcher:
        """Return a matcher for this selector."""
        return Matcher(self)


ENCRYPT_ALL = Selector(name="", pattern="")


class Matcher:
    """A compiled selector that caches its results."""

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self._suffix = selector.pattern if selector.name.endswith("suffix") else None
        regex = selector.name.endswith("regex")
        self._regex = GoRegex(selector.pattern) if regex else None
        self._known: dict[str, bool] = {}

    def matches(self, text: str) -> bool:
        """Return whether a key or comment matches the pattern."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._compute_match(text)
        return known

    def _compute_match(self, text: str) -> bool:
        if self._regex is not None:
            return self._regex.matches(text)
        return self._suffix is not None and text.endswith(self._suffix)


def build_selector(options: Mapping[str, str], where: Location) -> Selector:
    """Return the selector of a rule or file; the default excludes values with the suffix
    `_unencrypted`."""
    named = [name for name in SELECTOR_NAMES if options.get(name)]
    if len(named) > 1:
        raise problems.several_selectors(where, named)
    if not named:
        return Selector()
    selector = Selector(name=named[0], pattern=options[named[0]])
    try:
        selector.compile()
    except ValueError as error:
        raise problems.bad_regex(where, named[0], str(error)) from None
    return selector


DEFAULT_INDENT = 4


@record
class EncryptionSettings:
    """Settings for encrypting a new file."""

    recipients: tuple[str, ...]
    selector: Selector = Selector()
    only_encrypted: bool = False
    """Whether the MAC covers encrypted values only."""
    indent: int = DEFAULT_INDENT
    """Indentation of the `sops` entry in YAML files."""


_FOREIGN_CODES = ("sops.key-group", "sops.kms", "sops.pgp")
"""Problems of rules for keys that only SOPS supports; other rules still apply."""
_FOREIGN_KEY_KINDS = {
    "kms": "kms",
    "gcp_kms": "gcp-kms",
    "hckms": "hckms",
    "azure_keyvault": "azure-kv",
    "hc_vault_transit_uri": "vault",
    "hc_vault": "vault",
    "pgp": "pgp",
    "merge": "key-group",
}


@record
class CreationRule:
    """A creation rule. The first rule that matches the path of a file applies."""

    path_regex: str
    """Empty: every file."""
    recipe: EncryptionSettings
    at: Position
    unsupported: Refused | None = None
    """Why stockman cannot encrypt files of this rule. None: it can."""

    def matches(self, path: str) -> bool:
        """Return whether the rule applies to a path."""
        return not self.path_regex or GoRegex(self.path_regex).matches(path)


@record
class SopsConfig:
    """A `.sops.yaml` file."""

    file: str
    rules: tuple[CreationRule, ...]
    indent: int = DEFAULT_INDENT

    def rule_for(self, path: str) -> CreationRule:
        """Return the first rule for a path relative to the directory of the rules.

        Raises `Refused` if the rule needs keys that only SOPS supports.
        """
        for rule in self.rules:
            if rule.matches(path):
                if rule.unsupported is not None:
                    raise rule.unsupported
                return rule
        raise NotFound(
            Problem(
                code="sops.no-rule",
                what=f"no creation rule is for {path}",
                where=self.file,
                why=_no_match_reason(len(self.rules)),
                fix="add a rule with a `path_regex` that matches, and `age:` with recipients",
            )
        )


def _no_match_reason(count: int) -> str:
    if count > 1:
        return f"none of its {count} expressions matches this path"
    return "its one expression does not match this path" if count else "it has no rules"


def read_sops_config(content: bytes, file: str = ".sops.yaml") -> SopsConfig:
    """Parse a `.sops.yaml`; refuses every mistake in it."""
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise problems.bad_syntax(file, "it is not UTF-8 text") from None
    return _RulesReader(read_config_yaml(file, text)).config()


class _RulesReader:
    def __init__(self, sheet: ParsedFile) -> None:
        self._sheet = sheet
        self._indent = DEFAULT_INDENT

    def config(self) -> SopsConfig:
        file = self._sheet.file
        root = self._sheet.documents[0].root if self._sheet.documents else SopsMapping(0, 0)
        self._indent = self._stores(root)
        entry = root.entry("creation_rules")
        rules = list(self._rules(entry)) if entry else []
        return SopsConfig(file=file, rules=tuple(rules), indent=self._indent)

    def _stores(self, root: SopsMapping) -> int:
        node: SopsNode | None = root
        for key in ("stores", "yaml", "indent"):
            entry = node.entry(key) if isinstance(node, SopsMapping) else None
            node = entry.node if entry else None
        value = node.value if isinstance(node, SopsScalar) else None
        if node is not None and (not isinstance(value, int) or value < 0):
            where = self._sheet.position(node.start)
            raise problems.bad_rules(where, "`stores.yaml.indent` is no number of columns")
        return value if isinstance(value, int) and value > 0 else DEFAULT_INDENT

    def _rules(self, entry: SopsEntry) -> Iterator[CreationRule]:
        if not isinstance(entry.node, SopsSequence):
            raise problems.bad_rules(
                self._sheet.position(entry.start), "`creation_rules` is not a list"
            )
        for item in entry.node.items:
            if isinstance(item, SopsMapping):
                yield self._rule(item)
            elif not isinstance(item, SopsComment):
                raise problems.bad_rules(self._sheet.position(item.start), "a rule is no mapping")

    def _rule(self, rule: SopsMapping) -> CreationRule:
        where = self._sheet.position(rule.start)
        pattern = self._text(rule, "path_regex")
        try:
            GoRegex(pattern)
        except ValueError as error:
            raise problems.bad_regex(where, "path_regex", str(error)) from None
        unsupported = None
        recipients: tuple[str, ...] = ()
        try:
            recipients = tuple(dict.fromkeys(self._recipients(rule, where)))
        except Refused as error:
            if error.problem.code not in _FOREIGN_CODES:
                raise
            unsupported = error
        recipe = EncryptionSettings(
            recipients=recipients,
            selector=build_selector(
                {name: self._text(rule, name) for name in SELECTOR_NAMES}, where
            ),
            only_encrypted=self._flag(rule, "mac_only_encrypted"),
            indent=self._indent,
        )
        return CreationRule(path_regex=pattern, recipe=recipe, at=where, unsupported=unsupported)

    def _recipients(self, rule: SopsMapping, where: Position) -> Iterator[str]:
        group = self._only_group(rule, where)
        for section in (rule, group) if group is not rule else (rule,):
            self._refuse_foreign_keys(section)
        entry = group.entry("age")
        for leaf in _scalar_nodes(entry.node) if entry else ():
            if not isinstance(leaf.value, str):
                raise problems.bad_rules(self._sheet.position(leaf.start), "a recipient is no text")
            position = self._sheet.position(leaf.start)
            for text in leaf.value.split(","):
                if text.strip():
                    yield parse_recipient(text.strip(), str(position)).text

    def _only_group(self, rule: SopsMapping, where: Position) -> SopsMapping:
        entry = rule.entry("key_groups")
        if entry is None or not isinstance(entry.node, SopsSequence):
            return rule
        groups = [item for item in entry.node.items if isinstance(item, SopsMapping)]
        if len(groups) > 1:
            raise problems.key_groups(where)
        return groups[0] if groups else rule

    def _refuse_foreign_keys(self, group: SopsMapping) -> None:
        for entry in group.entries():
            if entry.key not in _FOREIGN_KEY_KINDS or not any(
                leaf.value not in (None, "") for leaf in _scalar_nodes(entry.node)
            ):
                continue
            position = self._sheet.position(entry.start)
            if entry.key == "merge":
                raise problems.key_groups(position)
            raise problems.foreign_key(position, _FOREIGN_KEY_KINDS[entry.key])

    def _text(self, rule: SopsMapping, name: str) -> str:
        entry = rule.entry(name)
        if entry is None:
            return ""
        value = entry.node.value if isinstance(entry.node, SopsScalar) else 0
        if value is None or isinstance(value, str):
            return value or ""
        raise problems.bad_rules(self._sheet.position(entry.start), f"{name!r} is no text")

    def _flag(self, rule: SopsMapping, name: str) -> bool:
        entry = rule.entry(name)
        value = entry.node.value if entry and isinstance(entry.node, SopsScalar) else None
        if entry is not None and not isinstance(value, bool):
            raise problems.bad_rules(
                self._sheet.position(entry.start), f"{name!r} is not true or false"
            )
        return value is True


def _scalar_nodes(node: SopsNode) -> Iterator[SopsScalar]:
    if isinstance(node, SopsScalar):
        yield node
    elif isinstance(node, SopsSequence):
        for item in node.items:
            if not isinstance(item, SopsComment):
                yield from _scalar_nodes(item)
    else:
        for entry in node.entries():
            yield from _scalar_nodes(entry.node)
