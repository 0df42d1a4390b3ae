"""How an object storage says no."""

from __future__ import annotations


class ObjectsError(Exception):
    """A refusal: status of HTTP, code and text of S3, and members that say more."""

    def __init__(self, status: int, code: str, text: str, **more: str) -> None:
        super().__init__(text)
        self.status = status
        self.code = code
        self.text = text
        self.more = more


def no_bucket(name: str) -> ObjectsError:
    text = "The specified bucket does not exist."
    return ObjectsError(404, "NoSuchBucket", text, BucketName=name)


def no_key() -> ObjectsError:
    return ObjectsError(404, "NoSuchKey", "The specified key does not exist.")


def no_upload(upload: str) -> ObjectsError:
    return ObjectsError(
        404,
        "NoSuchUpload",
        "The specified multipart upload does not exist. The upload ID may be invalid, or the upload"
        " may have been aborted or completed.",
        UploadId=upload,
    )


def precondition(header: str) -> ObjectsError:
    return ObjectsError(
        412,
        "PreconditionFailed",
        "At least one of the pre-conditions you specified did not hold.",
        Condition=header,
    )


def no_part(upload: str, number: int, etag: str) -> ObjectsError:
    return ObjectsError(
        400,
        "InvalidPart",
        "One or more of the specified parts could not be found.  The part may not have been"
        " uploaded, or the specified entity tag may not match the part's entity tag.",
        UploadId=upload,
        PartNumber=str(number),
        ETag=etag,
    )


def invalid(text: str, code: str = "InvalidArgument", **more: str) -> ObjectsError:
    return ObjectsError(400, code, text, **more)


def denied(text: str = "Access Denied", code: str = "AccessDenied") -> ObjectsError:
    return ObjectsError(403, code, text)


def mismatch() -> ObjectsError:
    return denied(
        "The request signature we calculated does not match the signature you provided. Check your"
        " key and signing method.",
        "SignatureDoesNotMatch",
    )


def not_allowed() -> ObjectsError:
    return ObjectsError(
        405, "MethodNotAllowed", "The specified method is not allowed against this resource."
    )


def not_implemented() -> ObjectsError:
    return ObjectsError(
        501,
        "NotImplemented",
        "A header you provided implies functionality that is not implemented.",
    )
