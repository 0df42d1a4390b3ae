"""Problems: collected once, read in the order of the files."""

from __future__ import annotations

from stockman.model.origin import Origin, Position, Traced, derivation
from stockman.model.problem import Problem, Problems


def test_a_problem_says_itself_in_four_lines() -> None:
    problem = Problem(
        code="address.taken",
        what="node work-1 has an address that is taken",
        where=Position("nodes.yaml", 4, 14),
        why="127.66.0.21 belongs to node cp-1",
        fix="give node work-1 an address of its own",
    )

    assert str(problem) == (
        "error[address.taken]: node work-1 has an address that is taken\n"
        "  where: nodes.yaml:4:14\n"
        "  why:   127.66.0.21 belongs to node cp-1\n"
        "  fix:   give node work-1 an address of its own"
    )


def test_the_same_problem_is_kept_once() -> None:
    problems = Problems()

    problems.error("a.b", "x", why="y", fix="z")
    problems.error("a.b", "x", why="y", fix="z")

    assert len(problems) == 1


def test_problems_are_read_in_the_order_of_files_and_lines() -> None:
    problems = Problems()
    problems.warn("c.late", "x", why="", fix="", at=Position("nodes.yaml", 1, 1))
    problems.error("b.later", "x", why="", fix="", at=Position("cluster.yaml", 10, 1))
    problems.error("a.first", "x", why="", fix="", at=Position("cluster.yaml", 9, 7))

    assert [problem.code for problem in problems] == ["a.first", "b.later", "c.late"]
    assert [problem.code for problem in problems.warnings] == ["c.late"]
    assert [problem.code for problem in problems.errors] == ["a.first", "b.later"]


def test_an_origin_is_a_place_and_what_carried_the_value() -> None:
    at = Position("nodes.yaml", 2, 24)

    assert str(Origin(at, "vm.cores")) == "nodes.yaml:2:24"
    assert str(Origin(at, "vm.cores", "class worker")) == "nodes.yaml:2:24 (class worker)"
    assert str(derivation("from the name")) == "derived: from the name"


def test_a_field_that_was_not_written_is_where_its_record_is() -> None:
    at = Position("nodes.yaml", 2, 3)
    traced = Traced(origins={"": Origin(at, "nodes[0]")})

    assert traced.where("mtu") == Origin(at, "nodes[0]")
    assert Traced().where("mtu") is None


def test_what_follows_from_other_keys_has_no_place() -> None:
    problems = Problems()
    problems.error(
        "tunnel.missing", "no tunnel", why="w", fix="f", at=derivation("from the domain")
    )

    assert [problem.where for problem in problems] == [""]
