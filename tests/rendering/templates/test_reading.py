"""A tree is read as makejinja reads it, and never beyond its root."""

from pathlib import Path

import pytest

from stockman.model.problem import Problem, Problems
from stockman.rendering.templates.contract import CLASSIC, Limits
from stockman.rendering.templates.tree import TemplateFile, TemplateTree, read_tree
from tests.rendering.templates.trees import problem_of


def read(top: Path, limits: Limits | None = None) -> tuple[TemplateTree, list[Problem]]:
    problems = Problems()
    return read_tree(top, CLASSIC, problems, limits or Limits()), list(problems)


def place(top: Path, path: str, text: str = "x\n") -> Path:
    file = top / "templates" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def file_of(path: str) -> TemplateFile:
    return TemplateFile(label=path, path=path, content=b"", mode=0o644)


def test_a_repository_without_templates_has_an_empty_tree(tmp_path: Path) -> None:
    tree, problems = read(tmp_path)

    assert (list(tree.files_to_render()), problems) == ([], [])


def test_one_input_is_enough(tmp_path: Path) -> None:
    place(tmp_path, "overrides/a.yaml.j2")

    tree, _ = read(tmp_path)

    assert [file.label for file in tree.files_to_render()] == ["templates/overrides/a.yaml.j2"]


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("a.yaml.j2", "a.yaml"),
        ("a.j2", "a"),
        ("a.yaml.gotmpl.j2", "a.yaml.gotmpl"),
        ("a.j2.yaml", "a.j2.yaml"),
        (".j2", ".j2"),
        ("d.j2/a.yaml", "d.j2/a.yaml"),
        ("a.J2", "a.J2"),
    ],
)
def test_the_suffix_of_templates_is_dropped(path: str, target: str) -> None:
    assert file_of(path).target == target


@pytest.mark.parametrize(
    ("path", "is_rendered"),
    [
        ("a.partial.yaml.j2", False),
        ("d/.partial.yaml.j2", False),
        ("a.partial.yml.j2", True),
        ("a.partial.yaml", True),
        ("partial.yaml.j2", True),
    ],
)
def test_parts_are_there_to_be_included_only(path: str, is_rendered: bool) -> None:
    assert file_of(path).is_rendered is is_rendered


def test_the_first_input_with_a_path_gives_the_file(tmp_path: Path) -> None:
    place(tmp_path, "overrides/a.yaml")
    place(tmp_path, "config/a.yaml.j2")

    tree, _ = read(tmp_path)

    assert [file.label for file in tree.files_to_render()] == ["templates/overrides/a.yaml"]


@pytest.mark.parametrize("target", ["/etc/passwd", "../../outside.txt", "../../nothing"])
def test_a_link_that_leads_out_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "outside.txt").write_text("outside")
    place(tmp_path, "config/a.yaml.j2")
    (tmp_path / "templates/config/link.txt").symlink_to(target)

    tree, problems = read(tmp_path)

    assert [(problem.code, problem.where) for problem in problems] == [
        ("template.outside-root", "templates/config/link.txt")
    ]
    assert tree.find_included("link.txt") is None


def test_a_link_to_a_directory_outside_is_refused(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    place(tmp_path, "config/a.yaml.j2")
    (tmp_path / "templates/config/link").symlink_to(tmp_path / "outside")

    _, problems = read(tmp_path)

    assert [problem.code for problem in problems] == ["template.outside-root"]


def test_a_link_inside_is_followed(tmp_path: Path) -> None:
    place(tmp_path, "config/a.yaml.j2", "inside\n")
    (tmp_path / "templates/config/b.yaml.j2").symlink_to("a.yaml.j2")

    tree, problems = read(tmp_path)

    assert problems == []
    assert [file.content for file in tree.files_to_render()] == [b"inside\n", b"inside\n"]


def test_a_link_in_a_circle_is_told(tmp_path: Path) -> None:
    place(tmp_path, "config/a.yaml.j2")
    (tmp_path / "templates/config/b").symlink_to("b")

    _, problems = read(tmp_path)

    assert [problem.where for problem in problems] == ["templates/config/b"]


def test_a_file_that_is_too_large_is_refused(tmp_path: Path) -> None:
    place(tmp_path, "config/a.txt", "123456")

    tree, problems = read(tmp_path, Limits(copied=5))

    assert [problem.code for problem in problems] == ["template.unreadable"]
    assert list(tree.files_to_render()) == []


def test_a_tree_with_too_many_files_is_refused(tmp_path: Path) -> None:
    for number in range(4):
        place(tmp_path, f"config/{number}.txt")

    _, problems = read(tmp_path, Limits(files=3))

    assert [(problem.code, problem.where) for problem in problems] == [
        ("template.unreadable", "templates")
    ]


def test_a_template_that_is_no_text_is_told() -> None:
    file = TemplateFile(label="x.j2", path="x.j2", content=b"a\xff", mode=0o644)

    with pytest.raises(Exception, match=r"x\.j2 cannot be read"):
        file.source(Limits())


def test_a_template_that_is_too_long_is_told() -> None:
    assert problem_of("#{ domain }#\n" * 9, limits=Limits(source=100)).code == "template.unreadable"


@pytest.mark.parametrize("name", ["a.txt", "./a.txt", ".//a.txt", "./d/./b.txt"])
def test_names_of_includes_may_have_dots_that_lead_nowhere(tmp_path: Path, name: str) -> None:
    place(tmp_path, "config/a.txt")
    place(tmp_path, "config/d/b.txt")

    tree, _ = read(tmp_path)

    assert tree.find_included(name) is not None
