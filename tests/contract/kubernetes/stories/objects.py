"""What holds for objects of any kind."""

from __future__ import annotations

import pytest

from stockman.kubernetes.client import KubernetesClient
from stockman.kubernetes.errors import AlreadyExists, FieldConflict, Invalid
from stockman.kubernetes.objects import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    NAMESPACES,
    PODS,
    DeleteOptions,
    JsonPatch,
    MergePatch,
    ObjectRef,
    Propagation,
    ResourceKind,
    Selection,
    ServerSideApply,
)
from stockman.model.errors import Conflict, NotFound, Rejected, Unsupported
from tests.contract.kubernetes.doors import Stage
from tests.contract.kubernetes.stories.made import config_map, map_ref, metadata, names, part, pod


async def what_was_made_is_read_again(kubernetes: KubernetesClient, stage: Stage) -> None:
    made = await kubernetes.create(CONFIG_MAPS, config_map(stage, "wool", grade="fine"))
    kubernete = await kubernetes.get(map_ref(stage, "wool"))
    assert kubernete == made
    assert part(kubernete, "data") == {"grade": "fine"}
    assert metadata(kubernete)["managedFields"][0]["manager"] == "stockman"


async def an_object_that_is_not_there_is_not_found(
    kubernetes: KubernetesClient, stage: Stage
) -> None:
    with pytest.raises(NotFound) as caught:
        await kubernetes.get(map_ref(stage, "nowhere"))
    assert caught.value.problem.code == "kubernetes.not-found"
    assert caught.value.problem.why == 'configmaps "nowhere" not found'
    with pytest.raises(NotFound):
        await kubernetes.delete(map_ref(stage, "nowhere"))


async def a_kind_that_is_not_served_is_unsupported(
    kubernetes: KubernetesClient, stage: Stage
) -> None:
    shears = ResourceKind(api_version="tools.invalid/v1", name="Shear", plural="shears")
    with pytest.raises(Unsupported) as caught:
        await kubernetes.get(ObjectRef(kind=shears, name="one", namespace=stage.namespace))
    assert caught.value.problem.code == "kubernetes.no-such-kind"
    with pytest.raises(Unsupported):
        await kubernetes.objects(shears)


async def the_same_name_is_not_given_twice(kubernetes: KubernetesClient, stage: Stage) -> None:
    await kubernetes.create(CONFIG_MAPS, config_map(stage, "wool"))
    with pytest.raises(AlreadyExists) as caught:
        await kubernetes.create(CONFIG_MAPS, config_map(stage, "wool"))
    assert caught.value.problem.code == "kubernetes.exists"


async def a_list_has_what_is_selected_and_says_its_kind(
    kubernetes: KubernetesClient, stage: Stage
) -> None:
    for name, grade in (("a", "fine"), ("b", "rough"), ("c", "fine")):
        await kubernetes.create(CONFIG_MAPS, config_map(stage, name, {"grade": grade}))
    namespace = stage.namespace
    fine = await kubernetes.objects(
        CONFIG_MAPS, Selection(namespace=namespace, labels="grade=fine")
    )
    assert names(fine.items) == ["a", "c"]
    assert {str(one["kind"]) for one in fine.items} == {"ConfigMap"}
    only = Selection(namespace=namespace, fields="metadata.name=b")
    assert names((await kubernetes.objects(CONFIG_MAPS, only)).items) == ["b"]
    assert fine.version.isdecimal()
    wrong = Selection(namespace=namespace, labels="grade in fine")
    with pytest.raises(Rejected):
        await kubernetes.objects(CONFIG_MAPS, wrong)


async def pages_of_a_list_are_of_one_moment(kubernetes: KubernetesClient, stage: Stage) -> None:
    for number in range(501):
        await kubernetes.create(CONFIG_MAPS, config_map(stage, f"bale-{number:04}"))
    objects = await kubernetes.objects(CONFIG_MAPS, Selection(namespace=stage.namespace))
    assert len(set(names(objects.items)) - {"kube-root-ca.crt"}) == 501


async def what_is_applied_twice_changes_once(kubernetes: KubernetesClient, stage: Stage) -> None:
    server_side_apply = ServerSideApply(content=config_map(stage, "wool", grade="fine"))
    first = await kubernetes.apply(CONFIG_MAPS, server_side_apply)
    again = await kubernetes.apply(CONFIG_MAPS, server_side_apply)
    assert metadata(again)["resourceVersion"] == metadata(first)["resourceVersion"]
    (manager,) = metadata(again)["managedFields"]
    assert (manager["manager"], manager["operation"]) == ("stockman", "Apply")


async def fields_of_others_are_a_conflict_that_names_them(
    kubernetes: KubernetesClient, stage: Stage
) -> None:
    theirs = ServerSideApply(content=config_map(stage, "wool", grade="fine"), manager="shepherd")
    await kubernetes.apply(CONFIG_MAPS, theirs)
    ours = config_map(stage, "wool", grade="rough")
    with pytest.raises(FieldConflict) as caught:
        await kubernetes.apply(CONFIG_MAPS, ServerSideApply(content=ours))
    assert caught.value.managers == ("shepherd",)
    assert [field.field for field in caught.value.fields] == [".data.grade"]
    assert caught.value.problem.code == "kubernetes.field-conflict"
    taken = await kubernetes.apply(CONFIG_MAPS, ServerSideApply(content=ours, force=True))
    assert part(taken, "data") == {"grade": "rough"}


async def fields_that_are_no_longer_applied_go(kubernetes: KubernetesClient, stage: Stage) -> None:
    both = config_map(stage, "wool", grade="fine", colour="white")
    await kubernetes.apply(CONFIG_MAPS, ServerSideApply(content=both))
    server_side_apply = ServerSideApply(content=config_map(stage, "wool", grade="fine"))
    assert part(await kubernetes.apply(CONFIG_MAPS, server_side_apply), "data") == {"grade": "fine"}


async def a_dry_run_leaves_everything(kubernetes: KubernetesClient, stage: Stage) -> None:
    content = config_map(stage, "wool", grade="fine")
    await kubernetes.create(CONFIG_MAPS, content, dry_run=True)
    await kubernetes.apply(CONFIG_MAPS, ServerSideApply(content=content, dry_run=True))
    with pytest.raises(NotFound):
        await kubernetes.get(map_ref(stage, "wool"))
    await kubernetes.create(CONFIG_MAPS, content)
    ref = map_ref(stage, "wool")
    change = MergePatch(changes={"data": {"grade": "rough"}}, dry_run=True)
    assert part(await kubernetes.patch(ref, change), "data") == {"grade": "rough"}
    await kubernetes.delete(ref, DeleteOptions(dry_run=True))
    assert part(await kubernetes.get(ref), "data") == {"grade": "fine"}


async def a_merge_patch_takes_keys_away(kubernetes: KubernetesClient, stage: Stage) -> None:
    await kubernetes.create(CONFIG_MAPS, config_map(stage, "wool", grade="fine", colour="white"))
    change = MergePatch(changes={"data": {"grade": None, "bales": "3"}})
    patch = await kubernetes.patch(map_ref(stage, "wool"), change)
    assert part(patch, "data") == {"bales": "3", "colour": "white"}


async def a_json_patch_tests_first(kubernetes: KubernetesClient, stage: Stage) -> None:
    await kubernetes.create(CONFIG_MAPS, config_map(stage, "wool", grade="fine"))
    ref = map_ref(stage, "wool")
    change = {"op": "replace", "path": "/data/grade", "value": "rough"}
    wrong = {"op": "test", "path": "/data/grade", "value": "coarse"}
    with pytest.raises(Rejected):
        await kubernetes.patch(ref, JsonPatch(operations=[wrong, change]))
    right = {**wrong, "value": "fine"}
    patch = await kubernetes.patch(ref, JsonPatch(operations=[right, change]))
    assert part(patch, "data") == {"grade": "rough"}


async def a_patch_with_an_old_version_is_a_conflict(
    kubernetes: KubernetesClient, stage: Stage
) -> None:
    made = await kubernetes.create(CONFIG_MAPS, config_map(stage, "wool", grade="fine"))
    ref, version = map_ref(stage, "wool"), metadata(made)["resourceVersion"]
    await kubernetes.patch(ref, MergePatch(changes={"data": {"grade": "rough"}}))
    late = {"metadata": {"resourceVersion": version}, "data": {"grade": "coarse"}}
    with pytest.raises(Conflict) as caught:
        await kubernetes.patch(ref, MergePatch(changes=late))
    assert caught.value.problem.code == "kubernetes.conflict"
    with pytest.raises(Conflict):
        await kubernetes.replace(CONFIG_MAPS, {**made, "data": {"grade": "coarse"}})


async def what_is_replaced_is_as_it_was_given(kubernetes: KubernetesClient, stage: Stage) -> None:
    made = await kubernetes.create(CONFIG_MAPS, config_map(stage, "wool", grade="fine"))
    found = await kubernetes.replace(CONFIG_MAPS, {**made, "data": {"bales": "3"}})
    assert part(found, "data") == {"bales": "3"}


async def wrong_fields_are_named(kubernetes: KubernetesClient, stage: Stage) -> None:
    with pytest.raises(Invalid) as caught:
        await kubernetes.create(CONFIG_MAPS, config_map(stage, "Wool!", grade="fine"))
    assert [cause.field for cause in caught.value.causes] == ["metadata.name"]
    content = pod(stage, "web")
    content["spec"]["containers"] = []
    with pytest.raises(Invalid) as caught:
        await kubernetes.create(PODS, content)
    assert "spec.containers" in [cause.field for cause in caught.value.causes]


async def a_deletion_has_conditions(kubernetes: KubernetesClient, stage: Stage) -> None:
    made = await kubernetes.create(CONFIG_MAPS, config_map(stage, "wool"))
    ref = map_ref(stage, "wool")
    for how in (DeleteOptions(uid="another"), DeleteOptions(version="1")):
        with pytest.raises(Conflict):
            await kubernetes.delete(ref, how)
    known = metadata(made)
    how = DeleteOptions(uid=known["uid"], version=known["resourceVersion"])
    assert await kubernetes.delete(ref, how) is True
    with pytest.raises(NotFound):
        await kubernetes.get(ref)


async def an_object_with_finalizers_goes_later(kubernetes: KubernetesClient, stage: Stage) -> None:
    content = config_map(stage, "wool")
    content["metadata"]["finalizers"] = ["stockman.invalid/kept"]
    await kubernetes.create(CONFIG_MAPS, content)
    ref = map_ref(stage, "wool")
    how = DeleteOptions(propagation=Propagation.BACKGROUND)
    assert await kubernetes.delete(ref, how) is False
    assert metadata(await kubernetes.get(ref))["deletionTimestamp"]
    await kubernetes.patch(ref, MergePatch(changes={"metadata": {"finalizers": None}}))
    with pytest.raises(NotFound):
        await kubernetes.get(ref)


async def grace_lets_a_pod_go_later(kubernetes: KubernetesClient, stage: Stage) -> None:
    await kubernetes.create(PODS, pod(stage, "web"))
    ref = ObjectRef(kind=PODS, name="web", namespace=stage.namespace)
    assert await kubernetes.delete(ref, DeleteOptions(grace=30)) is False
    assert (await kubernetes.pod(stage.namespace, "web")).is_leaving
    assert await kubernetes.delete(ref, DeleteOptions(grace=0)) is True
    with pytest.raises(NotFound):
        await kubernetes.pod(stage.namespace, "web")


async def names_that_lead_elsewhere_are_not_sent(
    kubernetes: KubernetesClient, stage: Stage
) -> None:
    for name in ("", "..", "a/b"):
        with pytest.raises(Rejected) as caught:
            await kubernetes.get(map_ref(stage, name))
        assert caught.value.problem.code == "kubernetes.rejected"


async def kinds_are_known_by_discovery(kubernetes: KubernetesClient, stage: Stage) -> None:
    assert await kubernetes.find_kind("apps/v1", "Deployment") == DEPLOYMENTS
    assert await kubernetes.find_kind("v1", "Namespace") == NAMESPACES
    assert await kubernetes.find_kind("apps/v1", "Meadow") is None
    assert await kubernetes.find_kind("tools.invalid/v1", "Shear") is None
    assert await kubernetes.serves(CONFIG_MAPS)
    del stage


async def the_server_tells_its_version_and_that_it_is_ready(
    kubernetes: KubernetesClient, stage: Stage
) -> None:
    version = await kubernetes.server_version()
    assert version.parsed.major == 1
    readiness = await kubernetes.readiness()
    assert (readiness.ready, readiness.failed) == (True, ())
    del stage
