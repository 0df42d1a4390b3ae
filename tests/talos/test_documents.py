"""Machine configurations as documents."""

import pytest

from stockman.config.source.tree import Unreadable
from stockman.talos.documents import V1ALPHA1, node_at, parse_documents, text_at

TEXT = """\
# A comment.
version: v1alpha1
machine:
  files:
    - content: |
        --- not a document
---
kind: HostnameConfig
auto: stable
--- # one more
kind: HostnameConfig
hostname: a
---
"""


def test_documents_are_found_by_kind_in_order() -> None:
    mapping_nodes = parse_documents("a.yaml", TEXT)

    assert {kind: len(mapping_node) for kind, mapping_node in mapping_nodes.items()} == {
        V1ALPHA1: 1,
        "HostnameConfig": 2,
    }
    assert text_at(mapping_nodes["HostnameConfig"][0], "auto") is not None


def test_places_are_those_of_the_whole_file() -> None:
    hostname = text_at(parse_documents("a.yaml", TEXT)["HostnameConfig"][1], "hostname")

    assert hostname is not None
    assert str(hostname.at) == "a.yaml:12:11"


def test_a_mistake_in_a_later_document_has_its_own_line() -> None:
    with pytest.raises(Unreadable) as caught:
        parse_documents("a.yaml", TEXT + "kind: A\nkind: B\n")

    assert str(caught.value.problem.where) == "a.yaml:15:1"


def test_a_path_that_leads_nowhere_leads_to_nothing() -> None:
    (document,) = parse_documents("a.yaml", "a: {b: [], c: ~, d: ''}")[V1ALPHA1]

    assert node_at(document, "a.b.c") is None
    assert node_at(document, "x.y") is None
    assert [text_at(document, f"a.{key}") for key in "bcd"] == [None, None, None]
