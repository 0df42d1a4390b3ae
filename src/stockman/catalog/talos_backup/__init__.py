"""talos-backup: snapshots of etcd, encrypted, in a bucket."""

from __future__ import annotations

from collections.abc import Iterator

from stockman.catalog.app import App, Object
from stockman.catalog.component import (
    Alert,
    Component,
    ComponentContext,
    KnownProblem,
    Phase,
    TalosAccess,
)
from stockman.catalog.conditions import Condition, SmokeTest
from stockman.catalog.objects import chart_sheets, secret
from stockman.catalog.talos_backup.environment import bucket, check, environment

_CREDENTIALS = "talos-backup-bucket"
"""Not `talos-backup-secrets`: that name belongs to the Secret that Talos makes."""


def _apps(scene: ComponentContext) -> Iterator[App]:
    target = bucket(scene)
    if target is None:
        return
    values: Object = {
        "schedule": scene.desired.backup.schedule,
        "env": environment(scene, target),
        "envSecretName": _CREDENTIALS,
    }
    sheets = chart_sheets(scene, values)
    pending = ""
    if target.access_key is not None and target.secret_key is not None:
        keys = {
            "AWS_ACCESS_KEY_ID": target.access_key,
            "AWS_SECRET_ACCESS_KEY": target.secret_key,
        }
        sheets = (*sheets, secret(_CREDENTIALS, keys))
    else:
        pending = "the keys of its bucket, which the configuration does not name"
    yield App(name="talos-backup", namespace=scene.namespace, sheets=sheets, pending=pending)


COMPONENT = Component(
    name="talos-backup",
    about="Snapshots of etcd, encrypted for a key of their own, in an S3 bucket.",
    phase=Phase.PLATFORM,
    apps=_apps,
    check=check,
    talos=TalosAccess(role="os:etcd:backup", secret="talos-backup-secrets"),
    ready=(
        Condition(
            kind="talos.dev/v1alpha1 ServiceAccount",
            name="talos-backup-secrets",
            expr="!has(object.status) || !has(object.status.failureReason)"
            " || object.status.failureReason == ''",
            says="its access to the Talos API was given",
            namespace="talos-backup",
        ),
    ),
    trial=SmokeTest(
        says="a backup that is started by hand succeeds",
        starts="talos-backup/talos-backup",
        until=(
            Condition(
                kind="batch/v1 Job",
                name="",
                expr="object.status.succeeded >= 1",
                says="the backup succeeded",
                namespace="talos-backup",
            ),
        ),
        seconds=600,
    ),
    alerts=(
        Alert(
            name="EtcdBackupNeverMade",
            expr='time() - kube_cronjob_created{cronjob="talos-backup"} > 36 * 3600'
            " unless on (namespace, cronjob)"
            ' kube_cronjob_status_last_successful_time{cronjob="talos-backup"}',
            holds="10m",
            severity="critical",
            summary="No backup of etcd has ever succeeded.",
            metrics=("kube_cronjob_created", "kube_cronjob_status_last_successful_time"),
        ),
        Alert(
            name="EtcdBackupMissing",
            expr='time() - max(kube_cronjob_status_last_successful_time{cronjob="talos-backup"})'
            " > 36 * 3600",
            holds="10m",
            severity="critical",
            summary="There has been no backup of etcd for a day and a half.",
            metrics=("kube_cronjob_status_last_successful_time",),
        ),
    ),
    troubles=(
        KnownProblem(
            shows="the job's pod waits for the Secret `talos-backup-secrets`",
            because="the machine configuration of the controllers does not allow its role",
            fix="apply the machine configuration: stockman puts os:etcd:backup there",
        ),
        KnownProblem(
            shows="the bucket grows for ever",
            because="talos-backup removes nothing",
            fix="give the bucket a lifecycle rule",
        ),
    ),
)
