"""One of several processes that want the same lock and the same line of a journal.

Reads a word per round from standard input and answers with a line: `take` asks for the lock and
for the next line, `free` gives the lock back.
"""

from __future__ import annotations

import asyncio
import sys

from stockman.adapters.s3 import S3Objects
from stockman.adapters.system import SystemEntropy, SystemTimekeeper
from stockman.engine.lock import HeldLock, LockHolder
from stockman.engine.object_lock import ObjectLock
from stockman.engine.runs import ObjectRunStore
from stockman.model.errors import Locked, Refused
from stockman.model.secret import Secret
from stockman.s3.credentials import S3Credentials
from stockman.s3.location import S3Location


async def race(name: str, url: str, access: str, secret: str) -> None:
    s3_location = S3Location(bucket="flock", endpoint=url, region="us-east-1")
    credentials = S3Credentials(
        access_key=Secret(access, resolved=True), secret_key=Secret(secret, resolved=True)
    )
    clock = SystemTimekeeper()
    async with S3Objects(s3_location, credentials, clock.now) as objects:
        lock = ObjectLock(objects, clock, "s3://flock")
        lines = await ObjectRunStore(objects, clock).create("shared", "{}")
        tenure: HeldLock | None = None
        for number, line in enumerate(sys.stdin):
            if line.strip() == "free":
                if tenure is not None:
                    await tenure.check()
                    await tenure.release()
                tenure = None
                answer("free")
                continue
            nonce = SystemEntropy().random_bytes(8).hex()
            try:
                tenure = await lock.acquire(LockHolder(name=name, run="shared", nonce=nonce))
                told = f"held {tenure.token}"
            except Locked:
                told = "locked"
            try:
                await lines.append(number // 2 + 1, f"{name} {nonce}\n".encode())
                told += " wrote"
            except Refused:
                told += " late"
            answer(told)


def answer(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(race(*sys.argv[1:]))
