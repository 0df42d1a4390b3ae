"""talos-backup: encrypted etcd snapshots in an S3 bucket."""

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
"""Not `talos-backup-secrets`: Talos creates a Secret with that name."""


def _apps(context: ComponentContext) -> Iterator[App]:
    target = bucket(context)
    if target is None:
        return
    values: Object = {
        "schedule": context.desired.backup.schedule,
        "env": environment(context, target),
        "envSecretName": _CREDENTIALS,
    }
    sheets = chart_sheets(context, values)
    pending = ""
    if target.access_key is not None and target.secret_key is not None:
        keys = {
            "AWS_ACCESS_KEY_ID": target.access_key,
            "AWS_SECRET_ACCESS_KEY": target.secret_key,
        }
        sheets = (*sheets, secret(_CREDENTIALS, keys))
    else:
        pending = "access keys of its bucket, which the configuration does not contain"
    yield App(name="talos-backup", namespace=context.namespace, sheets=sheets, pending=pending)


COMPONENT = Component(
    name="talos-backup",
    about="Etcd snapshots in an S3 bucket, encrypted with a key of their own.",
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
            says="it has access to the Talos API",
            namespace="talos-backup",
        ),
    ),
    smoke_test=SmokeTest(
        says="a manually started backup succeeds",
        starts="talos-backup/talos-backup",
        until=(
            Condition(
                kind="batch/v1 Job",
                name="stockman-talos-backup-test",
                expr="object.status.succeeded >= 1",
                says="the backup succeeds",
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
            summary="No etcd backup has ever succeeded.",
            metrics=("kube_cronjob_created", "kube_cronjob_status_last_successful_time"),
        ),
        Alert(
            name="EtcdBackupMissing",
            expr='time() - max(kube_cronjob_status_last_successful_time{cronjob="talos-backup"})'
            " > 36 * 3600",
            holds="10m",
            severity="critical",
            summary="The last etcd backup is older than 36 hours.",
            metrics=("kube_cronjob_status_last_successful_time",),
        ),
    ),
    known_problems=(
        KnownProblem(
            symptom="the job's pod waits for the Secret `talos-backup-secrets`",
            cause="the machine configuration of the controllers does not allow its role",
            fix="apply the machine configuration, which allows os:etcd:backup",
        ),
        KnownProblem(
            symptom="the bucket grows without limit",
            cause="talos-backup never deletes old backups",
            fix="add a lifecycle rule to the bucket",
        ),
    ),
)
