"""Objects are those that texts say, also where nobody read the text."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import yaml

from tests.catalog.estates import rendered
from tests.catalog.everything import EVERYTHING


@pytest.mark.parametrize("preset", ["fifteen-node"])
@pytest.mark.parametrize("more", [{}, EVERYTHING], ids=["usual", "everything"])
def test_documents_that_a_file_carries_are_what_its_text_says(
    preset: str, more: Mapping[str, object]
) -> None:
    carried = 0
    for file in rendered(more, preset=preset).tree:
        if file.documents is not None and isinstance(file.text, str):
            carried += 1
            assert list(yaml.safe_load_all(file.text)) == list(file.documents), file.path
    assert carried > 50


def test_secret_files_carry_no_documents() -> None:
    secret = [file for file in rendered().tree if file.is_secret]
    assert secret
    assert all(file.documents is None for file in secret)
