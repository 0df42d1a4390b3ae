"""What of a file is encrypted: by suffix or expression on the keys above, or on comments."""

from __future__ import annotations

import re
from collections.abc import Mapping

from stockman.crypto.sops import problems
from stockman.crypto.sops.go_regex import go_regex
from stockman.crypto.sops.problems import Where
from stockman.model.record import record

SELECTORS = (
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
    """Which values are encrypted. The empty name: all of them."""

    name: str = "unencrypted_suffix"
    pattern: str = DEFAULT_SUFFIX

    @property
    def is_inverse(self) -> bool:
        """Whether a match leaves a value in the clear."""
        return self.name.startswith("unencrypted") or not self.name

    @property
    def by_comment(self) -> bool:
        return self.name.endswith("comment_regex")

    def compiled(self) -> Matcher:
        return Matcher(self)


EVERYTHING = Selector(name="", pattern="")


class Matcher:
    """A selector that is ready to be asked, with what it answered before."""

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self._suffix = selector.pattern if selector.name.endswith("suffix") else None
        regex = selector.name.endswith("regex")
        self._regex: re.Pattern[str] | None = go_regex(selector.pattern) if regex else None
        self._known: dict[str, bool] = {}

    def matches(self, text: str) -> bool:
        """Whether one key, or one comment, fits the pattern."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = self._asked(text)
        return known

    def _asked(self, text: str) -> bool:
        if self._regex is not None:
            return self._regex.search(text) is not None
        return self._suffix is not None and text.endswith(self._suffix)


def chosen_selector(given: Mapping[str, str], where: Where) -> Selector:
    """The one selector that a rule or a file names; none: values without `_unencrypted`."""
    named = [name for name in SELECTORS if given.get(name)]
    if len(named) > 1:
        raise problems.several_selectors(where, named)
    if not named:
        return Selector()
    selector = Selector(name=named[0], pattern=given[named[0]])
    try:
        selector.compiled()
    except ValueError as error:
        raise problems.bad_regex(where, named[0], str(error)) from None
    return selector
