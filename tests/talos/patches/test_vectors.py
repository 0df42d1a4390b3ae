import pytest

from tests.talos.patches.vectors import Vector, vectors
from tests.talos.patches.verdict import ours, same, theirs

VECTORS = vectors()


def test_every_minor_has_vectors_of_both_verdicts() -> None:
    kinds = {(vector.minor, vector.text is None) for vector in VECTORS}

    assert kinds == {
        (minor, refused) for minor in ("1.11", "1.12", "1.13", "1.14") for refused in (True, False)
    }


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.minor)
def test_a_pair_ends_as_talosctl_ended_it(vector: Vector) -> None:
    assert same(ours(vector.pair, vector.minor), theirs(vector.text, vector.minor))
