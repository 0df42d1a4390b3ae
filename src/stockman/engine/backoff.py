"""How long to wait before something is tried again."""

from __future__ import annotations

from stockman.model.errors import Busy, StockmanError
from stockman.ports.entropy import Entropy
from stockman.steps.step import Retry


def wait_before(attempt: int, retry: Retry, entropy: Entropy, after: StockmanError) -> float:
    """Seconds before the attempt after number `attempt`; at least what the other side asks for.

    Between half and all of a wait that doubles each time.
    """
    whole = min(retry.first_wait * 2.0 ** (attempt - 1), retry.longest_wait)
    share = entropy.random_bytes(1)[0] / 255
    wished = after.retry_after if isinstance(after, Busy) and after.retry_after else 0.0
    return max(whole * (0.5 + share / 2), wished)
