"""A file of another program may have any number of unknown keys."""

import pytest

from stockman.config.load import load


@pytest.mark.parametrize(
    ("top", "parent"), [("", "cluster.yaml"), ("talos:\n", "talos")], ids=["top", "section"]
)
def test_only_some_of_many_unknown_keys_are_listed(top: str, parent: str) -> None:
    indent = "  " if top else ""
    keys = "".join(f"{indent}{number:x}x:\n" for number in range(2000))

    loaded = load({"cluster.yaml": f"{top}{keys}".encode(), "nodes.yaml": b"nodes: []\n"})

    unknown = [problem for problem in loaded.problems if problem.code == "config.unknown-key"]
    assert len(unknown) == 101
    assert f"1900 more keys are not keys of {parent}" in [problem.what for problem in unknown]
