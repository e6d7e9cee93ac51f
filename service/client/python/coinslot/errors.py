"""What goes wrong, as exceptions."""

from __future__ import annotations

from typing import Any, Mapping


class CoinslotError(Exception):
    """A refusal of the API, or no answer from it. `code` is made for programs, the text for people."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        body: Mapping[str, Any] | None = None,
        doc_url: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        #: The answer's status; None without an answer.
        self.status = status
        self.body: Mapping[str, Any] = body or {}
        request_id = self.body.get("requestId")
        #: Name it when you ask the server's operator.
        self.request_id: str | None = request_id if isinstance(request_id, str) else None
        #: The page with cause and cure of this code; None without an answer.
        self.doc_url = doc_url
        #: Set where the request may have been done all the same. What takes a key is done once if repeated with this one.
        self.idempotency_key: str | None = None
        #: What is wrong with each field.
        self.details: Mapping[str, str] = self.body.get("details") or {}


class SignatureError(CoinslotError):
    """A webhook that is not from Coinslot, was changed on its way, or is too old. Answer it with 400."""
