"""Which versions a range means."""

from __future__ import annotations

import pytest
from stockman_lab.kube.flux.versions import newest_fitting

_TAGS = ["v0.2.3", "v0.3.0", "1.0.0", "1.2.0", "1.2.9", "1.10.0", "2.0.0", "2.1.0-rc.1", "latest"]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("*", "2.0.0"),
        ("1.x", "1.10.0"),
        ("1.2", "1.2.9"),
        ("=1.2.0", "1.2.0"),
        ("1.2.0", "1.2.0"),
        ("~1.2.0", "1.2.9"),
        ("~1", "1.10.0"),
        ("^1.0.0", "1.10.0"),
        ("^0.2.0", "v0.2.3"),
        (">=1.0.0 <1.3.0", "1.2.9"),
        (">=1.0.0, <=1.2.0", "1.2.0"),
        (">1.2", "2.0.0"),
        ("<1.0.0", "v0.3.0"),
        ("1.0.0 - 1.2.0", "1.2.0"),
        ("~0.2 || ~1.2", "1.2.9"),
        (">=2.0.0-0", "2.1.0-rc.1"),
        (">=3.0.0", None),
    ],
)
def test_the_newest_of_a_range_is_found(wanted: str, found: str | None) -> None:
    assert newest_fitting(_TAGS, wanted) == found


def test_what_is_no_range_is_refused() -> None:
    with pytest.raises(ValueError, match="improper constraint"):
        newest_fitting(_TAGS, "newest please")
