"""Webhooks, signed by https://www.standardwebhooks.com."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Mapping, TypedDict

from .errors import SignatureError


class WebhookEvent(TypedDict):
    """An event as your server receives it."""

    event: str
    data: dict[str, Any]


def verify(
    body: bytes | str,
    headers: Mapping[str, str],
    secret: str,
    *,
    tolerance_seconds: float = 300,
    now: float | None = None,
) -> WebhookEvent:
    """
    The event in the body, if the endpoint's secret signed exactly these bytes; raises a `SignatureError` otherwise.
    Pass the body as it came: parsing and writing it again changes its bytes. The same `webhook-id` may come more than
    once.
    """
    given = {name.lower(): value for name, value in headers.items()}
    values = [given.get(name) for name in _SIGNED_BY]
    if any(value is None for value in values):
        message = f"The request lacks one of the headers {', '.join(_SIGNED_BY)}."
        raise SignatureError(message, code="signature_missing")
    message_id, timestamp, signatures = (value or "" for value in values)
    present = time.time() if now is None else now
    if not _SECONDS.fullmatch(timestamp) or not abs(present - int(timestamp)) <= tolerance_seconds:
        message = "The request is too old or too new. Check this clock."
        raise SignatureError(message, code="timestamp_outside_tolerance")
    raw = body.encode() if isinstance(body, str) else body
    signed = f"{message_id}.{timestamp}.".encode() + raw
    expected = hmac.new(_key_of(secret), signed, hashlib.sha256).digest()
    # While a secret is rotated there are two signatures.
    for each in signatures.split(" ")[:_SIGNATURES_MAX]:
        signature = _from_base64(each[3:]) if each.startswith("v1,") else None
        if signature is not None and hmac.compare_digest(signature, expected):
            event: WebhookEvent = json.loads(raw)
            return event
    message = "The signature does not match. Use this endpoint's secret, and the body as it came."
    raise SignatureError(message, code="signature_invalid")


_SIGNED_BY = ("webhook-id", "webhook-timestamp", "webhook-signature")
_SECONDS = re.compile("[0-9]{1,12}")
_SIGNATURES_MAX = 10


def _key_of(secret: str) -> bytes:
    """`whsec_` and base64 are the key's bytes; any other text is itself the key."""
    key = _from_base64(secret[6:]) if secret.startswith("whsec_") else secret.encode()
    # An empty key would sign anything that anyone sends.
    if key is None or len(key) < 24:
        raise ValueError("The webhook secret is missing or not complete. Copy it from the webhook endpoint.")
    return key


def _from_base64(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
