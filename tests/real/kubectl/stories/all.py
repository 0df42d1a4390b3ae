"""All stories, in the order in which they are told."""

from __future__ import annotations

from tests.real.kubectl.stories import cluster, nodes, pods, resources, workloads, writing

STORIES = (
    *workloads.STORIES,
    *pods.STORIES,
    *writing.STORIES,
    *resources.STORIES,
    *cluster.STORIES,
    *nodes.STORIES,
)
