"""Uploads on their way from the host that got them to the storage: the work of `imgcopy`."""

from __future__ import annotations

from stockman_lab.pve import space
from stockman_lab.pve.errors import die
from stockman_lab.pve.storages.paths import folder_of
from stockman_lab.pve.storages.receiving import Brought, NoRoom, looked_at, put_file
from stockman_lab.pve.workers import Job, Work, register

UPLOAD = "storage.upload"
_BYTES_PER_SECOND = 400 << 20


@register
class KeepUpload(Work):
    """Keeps the blob `blob` as `filename` on `storage` of the host `node`."""

    name = UPLOAD

    def begin(self, job: Job) -> float:
        job.log(f"starting file import from: {job.text('temporary')}")
        data = job.cluster.around.blobs.get(job.text("blob"))
        self._check(job, data)
        job.log(f"target node: {job.text('node')}")
        job.log(f"target file: {self._target(job)}")
        job.log(f"file size is: {len(data)}")
        job.log(f"command: {self._command(job)}")
        return 0.5 + len(data) / _BYTES_PER_SECOND

    def finish(self, job: Job) -> None:
        cluster, host = job.cluster, job.cluster.host(job.text("node"))
        storage = space.configured(cluster, job.text("storage"))
        data = cluster.around.blobs.get(job.text("blob"))
        try:
            put_file(
                cluster, storage, host, Brought(job.text("content"), job.text("filename"), data)
            )
        except NoRoom as error:
            where = self._target(job)
            raise die(f"import failed: cp: error writing '{where}': {error.message}") from None
        job.log("finished file import successfully")

    def ended(self, job: Job) -> None:
        job.cluster.around.blobs.release(job.text("blob"))

    def _check(self, job: Job, data: bytes) -> None:
        from stockman_lab.images.downloading import Checksum

        algorithm = job.text("algorithm")
        if algorithm:
            wrong = Checksum(algorithm=algorithm, expected=job.text("checksum")).mismatch(data)
            if wrong:
                job.log("calculating checksum...")
                raise die(wrong)
            job.log("calculating checksum...OK, checksum verified")
        looked_at(job.text("content"), job.text("filename"), data, job.text("temporary"))

    def _target(self, job: Job) -> str:
        storage = space.configured(job.cluster, job.text("storage"))
        return f"{folder_of(storage, job.text('content'))}/{job.text('filename')}"

    def _command(self, job: Job) -> str:
        temporary, target = job.text("temporary"), self._target(job)
        if job.text("node") == job.task.node:
            return f"cp -- {temporary} {target}"
        address = job.cluster.host(job.text("node")).address
        alias = f"-o BatchMode=yes -o HostKeyAlias={job.text('node')}"
        return f"/usr/bin/scp {alias} -p -- {temporary} [{address}]:{target}"
