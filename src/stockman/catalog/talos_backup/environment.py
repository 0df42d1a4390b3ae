"""The variables that talos-backup reads, under the names that it reads."""

from __future__ import annotations

from stockman.catalog.app import Object
from stockman.catalog.component import ComponentContext
from stockman.model.policies import BackupTarget
from stockman.model.problem import Problems

_POST_QUANTUM = "age1pq1"


def bucket(scene: ComponentContext) -> BackupTarget | None:
    """The bucket that backups go to: the first one."""
    return next((one for one in scene.desired.backup.targets if one.bucket is not None), None)


def environment(scene: ComponentContext, target: BackupTarget) -> list[Object]:
    """Variables in the order of their names."""
    backup = scene.desired.backup
    found = {
        "AGE_X25519_PUBLIC_KEY": backup.recipients[0] if backup.recipients else "",
        "AWS_REGION": target.region,
        "BUCKET": target.bucket or "",
        "CLUSTER_NAME": scene.cluster.name,
        "S3_PREFIX": target.prefix,
    }
    if target.path_style:
        # The released program reads it the wrong way round: "false" means that it is on.
        found["USE_PATH_STYLE"] = "false"
    if target.endpoint is not None:
        found["CUSTOM_S3_ENDPOINT"] = target.endpoint
    return [{"name": name, "value": value} for name, value in sorted(found.items())]


def check(scene: ComponentContext, problems: Problems) -> None:
    """Report backups that could not be opened, or not be made."""
    backup = scene.desired.backup
    if not backup.recipients:
        problems.error(
            "backup.recipient",
            "talos-backup has nobody to encrypt for",
            why="it encrypts for one age recipient of its own, and backup.recipients is empty",
            fix="make a key with `age-keygen`, keep it offline, and put its recipient there",
            at=backup.where("targets"),
        )
        return
    if "compression" in backup.origins and backup.compression != "none":
        problems.warn(
            "backup.uncompressed",
            "talos-backup does not compress",
            why="no release of it can, whatever backup.compression says",
            fix="count on the full size of etcd in the bucket, or use backups of stockman itself",
            at=backup.where("compression"),
        )
    first = backup.recipients[0]
    if first.startswith(_POST_QUANTUM):
        problems.error(
            "backup.post-quantum",
            "talos-backup cannot encrypt for a post-quantum recipient",
            why="it is built with a release of age that knows X25519 only",
            fix="put an X25519 recipient (`age1...`) first",
            at=backup.where("recipients"),
        )
    if len(backup.recipients) > 1:
        problems.warn(
            "backup.one-recipient",
            "talos-backup encrypts for the first recipient only",
            why="it takes one, and there are several",
            fix="put the one that has to open backups of talos-backup first",
            at=backup.where("recipients"),
        )
    if first == scene.materials.age_recipient:
        problems.error(
            "backup.same-key",
            "backups are encrypted for the key of the repository",
            why="one lost key would then open, or lose, both",
            fix="make a key of its own for backups",
            at=backup.where("recipients"),
        )
