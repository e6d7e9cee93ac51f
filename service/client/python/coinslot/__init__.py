"""Sell and buy workflows, tools and APIs for USDC: the typed client of Coinslot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .answers import PaidResponse
from .client import Coinslot, List, Page
from .errors import CoinslotError, SignatureError
from .webhooks import WebhookEvent
from .webhooks import verify as verify_webhook

if TYPE_CHECKING:
    from .aio import AsyncCoinslot

__version__ = "0.1.0"
__all__ = [
    "AsyncCoinslot",
    "Coinslot",
    "CoinslotError",
    "List",
    "Page",
    "PaidResponse",
    "SignatureError",
    "WebhookEvent",
    "verify_webhook",
]


def __getattr__(name: str) -> Any:
    # Only the asynchronous client needs httpx.
    if name == "AsyncCoinslot":
        from .aio import AsyncCoinslot

        return AsyncCoinslot
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
