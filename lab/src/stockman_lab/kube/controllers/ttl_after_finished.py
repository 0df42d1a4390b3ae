"""Jobs that delete themselves some time after their end."""

from __future__ import annotations

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.job import is_ended
from stockman_lab.kube.controllers.moments import read_time
from stockman_lab.kube.objects import entries_of, metadata_of, part_of


class TtlAfterFinished(Controller):
    """Deletes jobs whose time is over."""

    name = "ttl-after-finished"
    component = "ttl-after-finished-controller"
    watches = ("jobs",)

    def sync(self, key: str) -> None:
        """Delete a job, now or when it is time."""
        jobs = self.objects.get("jobs", key)
        if jobs is None or metadata_of(jobs).get("deletionTimestamp") or not is_ended(jobs):
            return
        seconds = part_of(jobs, "spec").get("ttlSecondsAfterFinished")
        if seconds is None:
            return
        ended = max(
            read_time(entry["lastTransitionTime"])
            for entry in entries_of(jobs, "status", "conditions")
            if entry["type"] in {"Complete", "Failed"}
        )
        if ended + seconds > self.now:
            self.look_again(key, ended + seconds, patient=True)
        else:
            self.client.delete(jobs, "Foreground")
