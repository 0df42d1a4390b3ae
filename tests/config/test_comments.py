"""Comments and the keys and items that they belong to."""

from __future__ import annotations

import pytest

from stockman.config.comments import Comments, read_toml_comments, read_yaml_comments
from stockman.config.source.toml_reader import read_toml
from stockman.config.source.tree import MappingNode, SequenceNode, TreeNode
from stockman.config.source.yaml_reader import read_yaml
from stockman.config.writers.yaml_writer import Commented


class Places:
    """Comments of a text by the path of what they belong to."""

    def __init__(self, comments: Comments, tree: MappingNode) -> None:
        self.header = comments.header
        self.footer = comments.footer
        self.found: dict[str, Commented] = {}
        self._walk(comments, tree, "")

    def _walk(self, comments: Comments, node: TreeNode, path: str) -> None:
        if isinstance(node, MappingNode):
            for name, entry in node.entries.items():
                inner = f"{path}.{name}" if path else name
                self.found[inner] = comments.take_key(entry.key.at)
                self._walk(comments, entry.value, inner)
        elif isinstance(node, SequenceNode):
            for index, item in enumerate(node.items):
                self.found[f"{path}[{index}]"] = comments.take_item(item.at)
                self._walk(comments, item, f"{path}[{index}]")

    def above(self, path: str) -> tuple[str, ...]:
        return tuple(line for line in self.found[path].above if line)

    def beside(self, path: str) -> str:
        return self.found[path].beside

    def below(self, path: str) -> tuple[str, ...]:
        return self.found[path].below


def yaml_places(text: str) -> Places:
    tree = read_yaml("cluster.yaml", text)
    return Places(read_yaml_comments(text, tree), tree)


def toml_places(text: str) -> Places:
    tree = read_toml("cluster.toml", text)
    return Places(read_toml_comments(text, tree), tree)


def test_a_comment_above_a_key_belongs_to_it() -> None:
    positions = yaml_places("# first\na: 1\n# second\n# line\nb: 2\n")

    assert positions.above("a") == ("first",)
    assert positions.above("b") == ("second", "line")


def test_a_comment_behind_a_value_belongs_to_its_key() -> None:
    positions = yaml_places(
        "a: 1 # one\nb: 'x # y' # two\nc: # three\n  d: |  # four\n    # text\n"
    )

    assert [positions.beside(path) for path in ("a", "b", "c", "c.d")] == [
        "one",
        "two",
        "three",
        "four",
    ]


def test_what_stands_on_top_with_an_empty_line_after_it_belongs_to_the_file() -> None:
    text = "# The file.\n#\n# More.\n---\n\n# Another part.\n\n# The key.\na: 1\n"

    positions = yaml_places(text)

    assert positions.header == ("The file.", " ", "More.", "", "Another part.")
    assert positions.above("a") == ("The key.",)


def test_what_stands_after_the_last_key_belongs_to_the_end_of_the_file() -> None:
    assert yaml_places("a: 1\n\n# end\n\n# of all\n").footer == ("end", "", "of all")
    assert toml_places("a = 1\n\n# end\n").footer == ("end",)


def test_comments_of_list_items_belong_to_the_items() -> None:
    positions = yaml_places(
        "nodes:\n  # first\n  - name: a # its name\n    tags: [x, y] # flow\n"
        "  # second\n  - name: b\n"
    )

    assert positions.above("nodes[0]") == ("first",)
    assert positions.beside("nodes[0].name") == "its name"
    assert positions.beside("nodes[0].tags") == "flow"
    assert positions.above("nodes[1]") == ("second",)


def test_an_indented_comment_belongs_to_what_is_above_it() -> None:
    positions = yaml_places(
        "nodes:\n  - name: a\n    # vlan_id: 3\n  - name: b\n    vm:\n      cores: 4\n"
        "      # numa: true\n    # disk: /dev/sda\nhosts: {}\n"
    )

    assert positions.below("nodes[0].name") == ("vlan_id: 3",)
    assert positions.below("nodes[1].vm.cores") == ("numa: true",)
    assert positions.below("nodes[1].vm") == ("disk: /dev/sda",)


def test_comments_in_brackets_belong_to_the_items_there() -> None:
    text = "tags{}[\n  # first\n  1, # one\n  2 # two\n  # last\n] # all\n"

    for positions in (yaml_places(text.format(": ")), toml_places(text.format(" = "))):
        assert positions.above("tags[0]") == ("first",)
        assert positions.beside("tags[0]") == "one"
        assert positions.beside("tags[1]") == "two"
        assert positions.below("tags[1]") == ("last",)
        assert positions.beside("tags") == "all"


def test_a_comment_behind_closed_brackets_belongs_to_the_outer_key() -> None:
    assert yaml_places("vm: {vmid: 1, tags: [a]} # all\n").beside("vm") == "all"
    assert toml_places('vm = { vmid = 1, tags = ["a"] } # all\n').beside("vm") == "all"


def test_what_an_alias_repeats_has_no_comment_a_second_time() -> None:
    tree = read_yaml("cluster.yaml", text := "a: &x\n  # once\n  b: 1\nc: *x # twice\n")
    comments = read_yaml_comments(text, tree)
    (inner,) = _mapping(tree.get("a")).entries.values()

    assert comments.take_key(inner.key.at).above == ("once",)
    assert comments.take_key(inner.key.at).above == ()
    assert comments.take_key(tree.entries["c"].key.at).beside == "twice"


def test_comments_that_nobody_takes_can_be_listed() -> None:
    tree = read_yaml("cluster.yaml", text := "# one\na: 1 # two\n")
    comments = read_yaml_comments(text, tree)

    assert [(at.line, note) for at, note in comments.remaining()] == [(2, "one"), (2, "two")]


def test_a_comment_between_a_key_and_its_value_belongs_to_the_key() -> None:
    assert yaml_places("a:\n  # why\n  text\nb: 1\n").below("a") == ("why",)
    assert yaml_places("a:\n# why\n  text\nb: 1\n").above("a") == ("why",)


def test_toml_tables_have_comments() -> None:
    positions = toml_places(
        "# top\n\n# the network\n[network] # of nodes\n# where\nnode_cidr = 'x' # there\n"
        "# vlan_tag = '3'\n\n# a node\n[[nodes]] # first\nname = 'a'\n"
        "# its VM\n[nodes.vm]\ncores = 4\n\n# another\n[[nodes]]\nname = 'b'\n"
        "[kubernetes.api] # deep\na.b = 1 # dotted\n"
    )

    assert positions.header == ("top",)
    assert (positions.above("network"), positions.beside("network")) == (
        ("the network",),
        "of nodes",
    )
    assert positions.above("network.node_cidr") == ("where",)
    assert positions.beside("network.node_cidr") == "there"
    assert positions.below("network.node_cidr") == ("vlan_tag = '3'",)
    assert (positions.above("nodes[0]"), positions.beside("nodes[0]")) == (("a node",), "first")
    assert positions.above("nodes[0].vm") == ("its VM",)
    assert positions.above("nodes[1]") == ("another",)
    assert positions.beside("kubernetes.api") == "deep"
    assert positions.beside("kubernetes.api.a.b") == "dotted"


@pytest.mark.parametrize(
    "text",
    [
        'a = \'# no\'\nb = "# no \\" # no"\nc = \'\'\'\n# no\n\'\'\'\nd = """\n# no\n"""\n',
        '"a # no" = 1\n["b # no"]\n["b # no"."c # no"]\n',
    ],
)
def test_a_hash_inside_of_a_toml_text_is_no_comment(text: str) -> None:
    positions = toml_places(text)

    assert (positions.header, positions.footer) == ((), ())
    assert not any(any(one.above) or one.beside or one.below for one in positions.found.values())


def test_a_hash_inside_of_a_yaml_text_is_no_comment() -> None:
    positions = yaml_places("a: x#y\nb: |\n  # no\nc: '# no'\nd: >-\n  # no\n\n# yes\ne: 1\n")

    assert positions.above("e") == ("yes",)
    assert not any(positions.found[path].beside for path in "abcde")


def test_empty_lines_before_a_key_are_kept_as_one() -> None:
    positions = yaml_places("a: 1\n\n\nb: 2\n\n# why\n\nc: 3\n")

    assert positions.found["b"].above == ("",)
    assert positions.found["c"].above == ("", "why", "")


def test_line_ends_of_other_systems_are_line_ends() -> None:
    positions = yaml_places("# top\r\n\r\n# one\r\na: 1 # two\r\n# three\r\nb: 2\r\n")

    assert positions.header == ("top",)
    assert (positions.above("a"), positions.beside("a")) == (("one",), "two")
    assert positions.above("b") == ("three",)
    assert toml_places("a = 1 # one\r\n# two\r\nb = 2\r\n").above("b") == ("two",)


def _mapping(node: TreeNode | None) -> MappingNode:
    assert isinstance(node, MappingNode)
    return node
