"""What holds for every pair, on some that are drawn from the tables."""

import pytest

from stockman.talos.patches.apply import apply_patches, load_documents
from stockman.talos.patches.decode import ConfigDocument
from stockman.talos.patches.patch import Patch, PatchRefused
from stockman.talos.patches.schema import MINORS, UNWRITTEN, iter_leaves, plain_value
from tests.talos.patches.judge import pairs
from tests.talos.patches.pairs import Writer, written
from tests.talos.patches.verdict import same

COUNT = 60


def accepted(minor: str) -> list[tuple[ConfigDocument, ...]]:
    """What is made of the pairs that are not refused."""
    config_documents = []
    for pair in pairs(minor, COUNT, "property"):
        patches = [
            Patch(label=f"patch-{index}.yaml", file=f"patch-{index}.yaml", text=text)
            for index, text in enumerate(pair.patches)
        ]
        try:
            documents = load_documents("config.yaml", pair.config, minor)
            config_documents.append(apply_patches(documents, patches, minor))
        except PatchRefused:
            continue
    assert len(config_documents) > COUNT / 4
    return config_documents


@pytest.mark.parametrize("minor", MINORS)
def test_every_value_comes_from_the_configuration_or_a_patch(minor: str) -> None:
    for documents in accepted(minor):
        files = {
            leaf.origin.at.file for document in documents for _, leaf in iter_leaves(document.tree)
        }
        assert files <= {
            UNWRITTEN.at.file,
            "config.yaml",
            "patch-0.yaml",
            "patch-1.yaml",
            "patch-2.yaml",
        }


@pytest.mark.parametrize("minor", MINORS)
def test_what_is_printed_is_read_again_as_the_same(minor: str) -> None:
    for documents in accepted(minor):
        texts = [written(plain_value(document.canonical())) for document in documents]
        # Talos prints an enumeration without a word for zero in a way that it cannot read.
        if not texts or "(0)" in "".join(texts):
            continue
        again = load_documents("again.yaml", "\n---\n".join(texts), minor)
        for document, other in zip(documents, again, strict=True):
            assert same(plain_value(document.canonical()), plain_value(other.canonical()))


@pytest.mark.parametrize("minor", MINORS)
def test_every_kind_of_document_can_be_drawn_and_read(minor: str) -> None:
    writer = Writer(minor, "kinds", wrong=0)
    for kind in writer.table.kinds:
        text = written(writer.document(kind))
        (document,) = load_documents("one.yaml", text, minor)
        assert document.kind.name == kind
