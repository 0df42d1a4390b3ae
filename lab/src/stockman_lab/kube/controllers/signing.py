"""Requests for certificates: those of kubelets are approved, and approved ones are signed."""

from __future__ import annotations

from stockman_lab.kube.access.signing import flaw, is_approved, refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.objects import copied, part_of

_KUBELET = "kubernetes.io/kube-apiserver-client-kubelet"
_SIGNERS = frozenset(
    {_KUBELET, "kubernetes.io/kube-apiserver-client", "kubernetes.io/kubelet-serving"}
)
_MAY_ASK = frozenset({"system:bootstrappers", "system:nodes"})


class CertificateApproval(Controller):
    """Approves what kubelets need to speak to the API."""

    name = "certificatesigningrequest-approving"
    component = "certificate-controller"
    watches = ("certificatesigningrequests",)

    def sync(self, key: str) -> None:
        """Approve a request if it is one of a kubelet."""
        certificatesigningrequests = self.objects.get("certificatesigningrequests", key)
        if certificatesigningrequests is None or part_of(certificatesigningrequests, "status").get(
            "conditions"
        ):
            return
        spec = part_of(certificatesigningrequests, "spec")
        if spec.get("signerName") != _KUBELET or not _MAY_ASK & set(spec.get("groups") or ()):
            return
        itself = "system:nodes" in spec["groups"]
        what = "self kubelet" if itself else "kubelet"
        changed = copied(certificatesigningrequests)
        changed.setdefault("status", {})["conditions"] = [
            {
                "type": "Approved",
                "status": "True",
                "reason": "AutoApproved",
                "message": f"Auto approving {what} client certificate after SubjectAccessReview.",
                "lastUpdateTime": self.today,
                "lastTransitionTime": self.today,
            }
        ]
        self.client.update(changed, "approval")


class CertificateSigning(Controller):
    """Signs what is approved, where somebody can sign."""

    name = "certificatesigningrequest-signing"
    component = "certificate-controller"
    watches = ("certificatesigningrequests",)

    def sync(self, key: str) -> None:
        """Put the certificate into a request, or say why there is none."""
        certificatesigningrequests = self.objects.get("certificatesigningrequests", key)
        sign = self.around.sign
        if (
            certificatesigningrequests is None
            or sign is None
            or part_of(certificatesigningrequests, "status").get("certificate")
        ):
            return
        spec = part_of(certificatesigningrequests, "spec")
        if spec.get("signerName") not in _SIGNERS or not is_approved(certificatesigningrequests):
            return
        why = flaw(certificatesigningrequests)
        changed = (
            refused(certificatesigningrequests, self.now, why)
            if why
            else sign(certificatesigningrequests)
        )
        self.client.update_status(certificatesigningrequests, changed["status"])
