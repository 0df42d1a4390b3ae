"""Access: roles, tokens and rights that an administrator sees, or that our token misses."""

from __future__ import annotations

from stockman.assessment.drift.report import DriftSeverity, Layer
from stockman.model.proxmox import OWN_TOKEN
from stockman.planning.access.desired import successor_comment
from tests.app.drift.scene import Scene

ROLE = "StockmanGuests"


def test_a_role_that_somebody_deleted_is_made_again_by_the_plan(scene: Scene) -> None:
    scene.person("mary").delete(f"/access/roles/{ROLE}")

    drift = next(one for one in scene.find(Layer.ACCESS).drifts if one.subject == OWN_TOKEN)

    assert next((value.key, value.observed) for value in drift.values) == (f"role {ROLE}", None)
    assert not drift.author.is_known
    assert f"access/role/pve/{ROLE}" in [step.id for step in drift.correction.steps]
    scene.apply()
    assert scene.find().drifts == ()


def test_without_an_administrator_the_missing_rights_are_told(scene: Scene) -> None:
    scene.person("mary").delete(f"/access/roles/{ROLE}")

    report = scene.find(Layer.ACCESS, administrator=False)

    assert {drift.layer for drift in report.drifts} == {Layer.ACCESS}
    assert any(
        "lacks" in drift.description and "/vms" in drift.description for drift in report.drifts
    )
    assert "stockman apply --only access" in report.drifts[0].correction.command


def test_a_role_that_gives_more_than_it_should_is_critical(scene: Scene) -> None:
    scene.person("mary").put(f"/access/roles/{ROLE}", privs="Permissions.Modify", append=1)

    only = scene.only(Layer.ACCESS)

    assert only.severity is DriftSeverity.CRITICAL
    (value,) = only.values
    assert "Permissions.Modify" in str(value.observed)
    assert "Permissions.Modify" not in str(value.desired)


def test_rights_that_nothing_asks_for_are_taken_back_by_a_command(scene: Scene) -> None:
    mary = scene.person("mary")
    mary.put("/access/acl", path="/", users="stockman@pve", roles="Administrator")

    only = scene.only(Layer.ACCESS)

    assert only.description == f"{OWN_TOKEN} has rights that nothing asks for"
    assert only.correction.command == (
        "pveum acl delete / --roles Administrator --users 'stockman@pve'"
    )
    mary.put("/access/acl", path="/", users="stockman@pve", roles="Administrator", delete=1)
    assert scene.find(Layer.ACCESS).drifts == ()


def test_a_token_that_a_rotation_left_behind_is_told_with_how_it_goes(scene: Scene) -> None:
    user, _, token = OWN_TOKEN.partition("!")
    comment = successor_comment("stockman", token)
    scene.root_door.post(f"/access/users/{user}/token/{token}-2", comment=comment)

    report = scene.find(Layer.ACCESS)

    drift = next(one for one in report.drifts if "older valid tokens" in one.description)
    assert [(value.key, value.observed) for value in drift.values] == [
        (f"token {OWN_TOKEN}", "there")
    ]
    assert drift.subject == f"{OWN_TOKEN}-2"
    assert "secrets rotate proxmox --token stockman --push" in drift.correction.command


def test_rights_of_a_renewed_token_that_nothing_asks_for_are_told(scene: Scene) -> None:
    user, _, token = OWN_TOKEN.partition("!")
    comment = successor_comment("stockman", token)
    scene.root_door.post(f"/access/users/{user}/token/{token}-2", comment=comment)
    scene.root_door.delete(f"/access/users/{user}/token/{token}")
    scene.person("mary").put(
        "/access/acl", path="/", tokens=f"{OWN_TOKEN}-2", roles="Administrator"
    )

    report = scene.find(Layer.ACCESS)

    assert f"{OWN_TOKEN}-2 has rights that nothing asks for" in [
        drift.description for drift in report.drifts
    ]


def test_rights_of_devices_that_the_files_have_no_more_are_a_notice(scene: Scene) -> None:
    mary = scene.person("mary")
    mary.post("/access/roles", roleid="StockmanUsb", privs="Mapping.Use")
    mary.put("/access/acl", path="/mapping/usb", tokens=OWN_TOKEN, roles="StockmanUsb")

    only = scene.only(Layer.ACCESS)

    assert only.severity is DriftSeverity.NOTICE
    assert only.description == f"{OWN_TOKEN} has rights that these files ask for no more"
    assert [value.key for value in only.values] == [
        f"right of {OWN_TOKEN} on /mapping/usb",
        "role StockmanUsb",
    ]
    assert [step.summary for step in only.correction.steps] == [
        f"take the role StockmanUsb on /mapping/usb away from {OWN_TOKEN}",
        "delete role StockmanUsb, unless somebody has it",
    ]


def test_a_file_for_clients_that_is_gone_is_written_again(scene: Scene) -> None:
    (scene.directory / "kubeconfig").unlink()

    only = scene.only()

    assert only.layer is Layer.ACCESS
    assert only.severity is DriftSeverity.NOTICE
    assert [step.id for step in only.correction.steps] == ["talos/client-file/kubeconfig"]


def test_a_proxmox_ve_that_does_not_answer_is_unknown(scene: Scene) -> None:
    scene.root_door.host.has_power = False

    report = scene.find(Layer.ACCESS, Layer.VMS, Layer.PLACEMENT)

    assert set(report.states.values()) == {"unknown"}
    assert report.drifts == ()


def test_a_file_for_clients_that_nobody_can_read_is_unknown(scene: Scene) -> None:
    file = scene.directory / "talos/clusterconfig/talosconfig"
    file.write_text(file.read_text() + "junk\n")

    report = scene.find(Layer.ACCESS)

    assert report.states == {"access": "unknown"}
    assert [one.subject for one in report.unknown] == ["talosconfig"]


def test_rights_of_a_component_that_is_switched_off_are_told_and_taken_away(scene: Scene) -> None:
    door, user, role = scene.root_door, "stockman-csi@pve", "StockmanCSI"
    text = "proxmox-csi, by stockman"
    door.post("/access/users", userid=user, comment=text)
    door.post("/access/roles", roleid=role, privs="VM.Audit")
    door.post(f"/access/users/{user}/token/csi", comment=text)
    door.put("/access/acl", path="/", roles=role, tokens=f"{user}!csi")

    only = scene.only()
    done = scene.apply()

    assert (only.layer, only.subject) == (Layer.ACCESS, user)
    assert only.severity is DriftSeverity.CRITICAL
    assert only.why == "proxmox-csi is disabled"
    region = scene.workspace().desired.proxmox[0].region
    assert done == [f"access/revoke/{region}/{user}", f"access/revoke/{region}/{role}"]
    assert scene.find(Layer.ACCESS).drifts == ()
