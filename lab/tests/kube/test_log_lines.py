"""What programs in pods are believed to have said."""

from __future__ import annotations

import pytest
from stockman_lab.kube.log_lines import NoLogs, log_lines

from lab.tests.kube.nodes.running import up


def test_a_program_says_something_when_it_begins_and_while_it_runs() -> None:
    cluster = up("n1")
    cluster.pod()
    cluster.settle()
    early = log_lines(cluster.found(), "", cluster.timeline.now + 5)
    late = log_lines(cluster.found(), "main", cluster.timeline.now + 600)
    assert [text.partition("msg=")[2] for _, text in early] == [
        '"starting" component=main',
        '"configuration loaded" component=main',
        '"listening" component=main',
        '"ready" component=main',
    ]
    assert late[: len(early)] == early
    assert len(late) > len(early)


def test_a_container_that_waits_has_no_log() -> None:
    cluster = up("n1")
    cluster.pod()
    cluster.advance(0.5)
    text = 'container "main" in pod "one" is waiting to start: ContainerCreating'
    with pytest.raises(NoLogs, match=text):
        log_lines(cluster.found(), "", cluster.timeline.now)


def test_one_of_several_containers_has_to_be_named() -> None:
    cluster = up("n1")
    names = [{"name": one, "image": "example/program:1"} for one in ("a", "b")]
    cluster.pod(containers=names)
    with pytest.raises(NoLogs, match=r"a container name must be specified for pod one"):
        log_lines(cluster.found(), "", cluster.timeline.now)
    with pytest.raises(NoLogs, match="container c is not valid for pod one"):
        log_lines(cluster.found(), "c", cluster.timeline.now)
