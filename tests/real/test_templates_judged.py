"""makejinja renders both trees of templates to the same bytes as stockman."""

from pathlib import Path

import pytest

from tests.rendering.templates.trees import (
    digests,
    judged,
    prepared,
    recorded,
    rendered,
    written,
)


@pytest.mark.parametrize("dialect", ["classic", "toml"])
def test_every_byte_and_permission_is_as_makejinja_writes_it(tmp_path: Path, dialect: str) -> None:
    top = prepared(tmp_path, dialect)

    expected = judged(top)

    assert written(rendered(top)) == expected
    assert digests(expected) == recorded(dialect)
