"""A cluster of the lab follows what is rendered for it, as a real one does."""

from __future__ import annotations

import pytest

from lab.tests.kube.estates.living import Living, living
from lab.tests.kube.estates.looking import answered, counted, look_again, troubles, versions
from lab.tests.kube.estates.written import Written


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Living:
    result = living(Written("three-node", {}), tmp_path_factory.mktemp("estate"))
    result.bootstrap()
    return result


def test_everything_that_is_rendered_comes_to_life(cluster: Living) -> None:
    assert troubles(cluster) == []
    releases = len(cluster.written.objects("HelmRelease"))
    result = counted(cluster)
    assert result["helmreleases"] == releases
    assert result["kustomizations"] > releases


def test_flux_takes_over_what_was_installed_before_it(cluster: Living) -> None:
    revisions = cluster.revisions()
    first = {f"{release['namespace']}/{release['name']}" for release in cluster.written.releases}
    assert {name: revisions[name] for name in first} == {
        name: [(1, "superseded"), (2, "deployed")] for name in first
    }
    later = {name: revision for name, revision in revisions.items() if name not in first}
    assert later == {name: [(1, "deployed")] for name in later}
    assert later


def test_nothing_changes_when_flux_looks_again(cluster: Living) -> None:
    before, revisions = versions(cluster), cluster.revisions()
    look_again(cluster, "once-more")
    assert answered(cluster, "once-more") == []
    after = versions(cluster)
    assert {name: one for name, one in after.items() if before.get(name) != one} == {}
    assert cluster.revisions() == revisions
