"""Environment variables of talos-backup."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.model.policies import BackupTarget
from stockman.model.problem import Problems

_POST_QUANTUM = "age1pq1"


def bucket(context: ComponentContext) -> BackupTarget | None:
    """Return the bucket for backups: the first one."""
    return next(
        (target for target in context.desired.backup.targets if target.bucket is not None), None
    )


def environment(context: ComponentContext, target: BackupTarget) -> list[Object]:
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


def check(context: ComponentContext, problems: Problems) -> None:
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
    if first == context.materials.age_recipient:
        problems.error(
            "backup.same-key",
            "backups are encrypted with the key of the repository",
            why="losing that key would expose, or lose, both",
            fix="create a separate key for backups",
            at=backup.where("recipients"),
        )
