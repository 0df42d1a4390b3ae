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
from stockman.model.policies import BackupTarget
from stockman.model.problem import Problems

_CREDENTIALS = "talos-backup-bucket"
"""Not `talos-backup-secrets`: Talos creates a Secret with that name."""
_POST_QUANTUM = "age1pq1"


def _apps(context: ComponentContext) -> Iterator[App]:
    target = _bucket(context)
    if target is None:
        return
    values: Object = {
        "schedule": context.desired.backup.schedule,
        "env": _environment(context, target),
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


def _bucket(context: ComponentContext) -> BackupTarget | None:
    """Return the bucket for backups: the first one."""
    return next(
        (target for target in context.desired.backup.targets if target.bucket is not None), None
    )


def _environment(context: ComponentContext, target: BackupTarget) -> list[Object]:
    """Return the variables, sorted by name."""
    backup = context.desired.backup
    variables = {
        "AGE_X25519_PUBLIC_KEY": backup.recipients[0] if backup.recipients else "",
        "AWS_REGION": target.region,
        "BUCKET": target.bucket or "",
        "CLUSTER_NAME": context.cluster.name,
        "S3_PREFIX": target.prefix,
    }
    if target.path_style:
        # The released program inverts this variable: "false" enables it.
        variables["USE_PATH_STYLE"] = "false"
    if target.endpoint is not None:
        variables["CUSTOM_S3_ENDPOINT"] = target.endpoint
    return [{"name": name, "value": value} for name, value in sorted(variables.items())]


def _check(context: ComponentContext, problems: Problems) -> None:
    """Report backups that could not be created or decrypted."""
    backup = context.desired.backup
    if not backup.recipients:
        problems.error(
            "backup.recipient",
            "talos-backup has no recipient to encrypt for",
            why="it encrypts for one age recipient, and backup.recipients is empty",
            fix="create a key with `age-keygen`, keep it offline, and add its recipient there",
            at=backup.where("targets"),
        )
        return
    if "compression" in backup.origins and backup.compression != "none":
        problems.warn(
            "backup.uncompressed",
            "talos-backup does not compress",
            why="no release supports compression, whatever backup.compression says",
            fix="plan for the full size of etcd in the bucket, or use stockman's own backups",
            at=backup.where("compression"),
        )
    first = backup.recipients[0]
    if first.startswith(_POST_QUANTUM):
        problems.error(
            "backup.post-quantum",
            "talos-backup does not support post-quantum recipients",
            why="its version of age supports X25519 only",
            fix="put an X25519 recipient (`age1...`) first",
            at=backup.where("recipients"),
        )
    if len(backup.recipients) > 1:
        problems.warn(
            "backup.one-recipient",
            "talos-backup encrypts for the first recipient only",
            why="it supports one, and there are several",
            fix="put the recipient that has to decrypt backups of talos-backup first",
            at=backup.where("recipients"),
        )
    if first in context.materials.age_recipient.split(","):
        problems.error(
            "backup.same-key",
            "backups are encrypted with the key of the repository",
            why="losing that key would expose, or lose, both",
            fix="create a separate key for backups",
            at=backup.where("recipients"),
        )


COMPONENT = Component(
    name="talos-backup",
    about="Etcd snapshots in an S3 bucket, encrypted with a key of their own.",
    phase=Phase.PLATFORM,
    apps=_apps,
    check=_check,
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
