"""What both clients share: how a request is written, when it is sent again, and what its answer means."""

from __future__ import annotations

import base64
import json
import random
import re
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Iterator, Mapping
from urllib.parse import quote, urlencode, urljoin, urlsplit

from .errors import CoinslotError

#: Far above every answer of the API, and the same as in the TypeScript client: a server that sends without an end must
#: not fill the memory.
ANSWER_BYTES_MAX = 64_000_000
#: The server writes every 15 seconds, so a connection that is silent for longer is dead.
SILENT_SECONDS = 45.0
RETRIES_MAX = 10
#: Runs, calls of tools and paid requests may take this long.
LONG_SECONDS = 200.0
_WAIT_SECONDS_MAX = 30.0
#: These did nothing yet, or are repeated safely by the key. A failed run or call is final: it is not sent again.
_RETRYABLE = frozenset((408, 429, 503))


@dataclass(frozen=True)
class Options:
    """How a client sends its requests."""

    base_url: str
    key: str | None
    timeout: float
    retries: int

    @staticmethod
    def of(key: str | None, base_url: str, timeout: float, retries: int) -> Options:
        parts = urlsplit(base_url)
        if parts.scheme not in ("http", "https") or parts.hostname is None:
            message = "base_url is not the address of a server. Use one such as http://localhost:4020."
            raise CoinslotError(message, code="invalid_options")
        return Options(base_url.rstrip("/"), key, timeout, min(retries, RETRIES_MAX))


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: Mapping[str, Any] | None = None
    body: Any = None
    #: Every attempt has the same key, so the server does the work at most once.
    idempotency_key: str | None = None
    timeout: float | None = None
    retries: int | None = None

    def target(self) -> str:
        pairs = [(name, _text_of(value)) for name, value in (self.query or {}).items() if value is not None]
        return self.path + (f"?{urlencode(pairs)}" if pairs else "")

    def headers(self, options: Options) -> dict[str, str]:
        headers = {"accept": "application/json, text/event-stream", "user-agent": "coinslot-python"}
        if options.key is not None:
            headers["authorization"] = f"Bearer {options.key}"
        if self.body is not None:
            headers["content-type"] = "application/json"
        if self.idempotency_key is not None:
            headers["idempotency-key"] = self.idempotency_key
        return headers

    def content(self) -> bytes | None:
        return None if self.body is None else json.dumps(self.body, allow_nan=False).encode()


@dataclass(frozen=True)
class Response:
    base_url: str
    status: int
    headers: Mapping[str, str]
    content: bytes

    def answer(self) -> Any:
        """The parsed body of a success."""
        if not 200 <= self.status < 300:
            raise self.error()
        if self.status == 204 or self.content == b"":
            return None
        body = _parsed(self.content)
        if body is None:
            message = "The answer is not JSON. Check that base_url is the address of a Coinslot server."
            raise CoinslotError(message, code="unexpected_answer", status=self.status)
        # 202 has two meanings: work that goes on, or a person has to approve it first.
        if self.status == 202 and _is_error(body):
            raise self.error()
        return body

    def error(self) -> CoinslotError:
        body = _parsed(self.content)
        if _is_error(body):
            return CoinslotError(
                body["error"], code=body["code"], status=self.status, body=body, doc_url=self._doc_url()
            )
        message = f"The server answered {self.status} without a reason. Check base_url, or try again."
        return CoinslotError(message, code="unexpected_answer", status=self.status)

    def _doc_url(self) -> str | None:
        """The target of `Link: <…>; rel="help"`. Its form is the service's own, so this reads no other one."""
        found = re.fullmatch(r'<([^>]*)>; rel="help"', self.headers.get("link", ""))
        return None if found is None else urljoin(f"{self.base_url}/", found[1])


class Attempts:
    """Decides, for one call, whether it is sent again after an attempt that failed, and what its last error says."""

    def __init__(self, options: Options, request: Request) -> None:
        self._options = options
        self._request = request
        self._retries = options.retries if request.retries is None else request.retries
        self._failed = 0
        self._may_be_done = False

    def wait_after(self, error: Exception, *, late: bool, response: Response | None) -> float:
        """The seconds until the next attempt. Raises what went wrong where there is none."""
        if isinstance(error, CoinslotError):
            failure, cause = error, None
            may_repeat = is_retryable(self._request.method, error.status)
        else:
            failure, cause, may_repeat = _unanswered(self._options, late), error, True
        # A retry may be refused before its key is looked for, as by 429: that says nothing about the earlier attempts.
        self._may_be_done = self._may_be_done or not _is_final(failure)
        if self._failed >= self._retries or not may_repeat:
            failure.idempotency_key = self._request.idempotency_key if self._may_be_done else None
            raise failure from cause
        self._failed += 1
        return _wait_seconds(self._failed - 1, response)


def is_retryable(method: str, status: int | None) -> bool:
    return status is not None and (status in _RETRYABLE or (method == "GET" and status >= 502))


def _is_final(error: CoinslotError) -> bool:
    """Whether the service says that nothing was done, or that what was done has failed and is not charged."""
    if error.status is None:
        return False
    if "code" not in error.body:
        return 300 <= error.status < 500
    done = error.code == "internal" or error.body.get("paymentId") is not None
    return error.status < 500 or (error.status != 503 and not done)


def _wait_seconds(attempt: int, response: Response | None) -> float:
    """Doubles from half a second, with jitter, so that clients that failed together do not return together."""
    own = 0.5 * 2.0**attempt * (0.5 + random.random() / 2)
    return min(_WAIT_SECONDS_MAX, max(own, 0.0 if response is None else _retry_after(response)))


def _unanswered(options: Options, late: bool) -> CoinslotError:
    if late:
        message = f"{options.base_url} did not answer in time. Try again, or raise timeout."
        return CoinslotError(message, code="timeout")
    message = f"{options.base_url} cannot be reached. Check base_url and your connection."
    return CoinslotError(message, code="connection_failed")


def segment(value: str) -> str:
    """One part of a path: an id must not lead to another path."""
    if value in ("", ".", ".."):
        raise CoinslotError("An id is empty, or is no id.", code="invalid_options")
    return quote(value, safe="")


def path_of(name: str, path: Mapping[str, str] | None) -> tuple[str, str]:
    """The method and the path of an operation: `GET /v1/agents/{id}`."""
    method, _, template = name.partition(" ")
    given = path or {}
    parts = template.split("/")
    for place, part in enumerate(parts):
        if part.startswith("{") and part.endswith("}"):
            if part[1:-1] not in given:
                raise CoinslotError(f"path lacks {part[1:-1]!r}.", code="invalid_options")
            parts[place] = segment(given[part[1:-1]])
    return method, "/".join(parts)


def too_large() -> CoinslotError:
    message = "The answer is larger than 64 MB. Check that base_url is the address of a Coinslot server."
    return CoinslotError(message, code="answer_too_large")


class Body:
    """Collects an answer piece by piece, up to the limit."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._size = 0

    def add(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > ANSWER_BYTES_MAX:
            raise too_large()
        self._pieces.append(piece)

    @property
    def content(self) -> bytes:
        return b"".join(self._pieces)


class Events:
    """Reads `text/event-stream` piece by piece; gives the data of each event once it is complete."""

    def __init__(self) -> None:
        self._data: list[str] = []
        #: The beginning of a line whose end has not come.
        self._line: list[bytes] = []
        #: Of the event that is not complete.
        self._size = 0

    def feed(self, piece: bytes) -> Iterator[Any]:
        *ended, rest = piece.split(b"\n")
        for end in ended:
            self._count(end)
            line = b"".join((*self._line, end)).removesuffix(b"\r").decode()
            self._line = []
            yield from self._take(line)
        if rest:
            self._count(rest)
            self._line.append(rest)

    def _count(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > ANSWER_BYTES_MAX:
            raise too_large()

    def _take(self, line: str) -> Iterator[Any]:
        if line == "":
            data, self._data, self._size = self._data, [], 0
            if data:
                yield json.loads("\n".join(data))
        elif line.startswith("data:"):
            self._data.append(line[5:].removeprefix(" "))


@dataclass(frozen=True)
class PaidResponse:
    """What a paid address answered."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    #: None where the address asked for no payment.
    payment_id: str | None
    #: `settled`, or `pending` while the seller has not taken the money, which is `returned` if it never does.
    payment_status: str | None

    @property
    def text(self) -> str:
        return self.content.decode(errors="replace")

    def json(self) -> Any:
        return json.loads(self.content)

    @staticmethod
    def of(paid: Any) -> PaidResponse:
        response, payment = paid["response"], paid["payment"]
        if response is None:
            raise _no_response(paid)
        given: Mapping[str, Any] = response["headers"]
        headers = {name.lower(): value if isinstance(value, str) else ", ".join(value) for name, value in given.items()}
        body = response["body"]
        content = body.encode() if response["encoding"] == "utf8" else base64.b64decode(body)
        id, status = (None, None) if payment is None else (payment["id"], payment["status"])
        return PaidResponse(response["status"], headers, content, id, status)


def _no_response(paid: Any) -> CoinslotError:
    """An earlier request with the same key decided it."""
    payment = paid["payment"]
    if payment is None or payment["status"] != "returned":
        message = "This was paid before, and the answer is no longer stored. Send it with a new key."
        return CoinslotError(message, code="response_not_stored", body=paid)
    message = (
        f"Payment {payment['id']} was returned ({payment['reason']}). "
        "Nothing was paid. Send it with a new key to try again."
    )
    return CoinslotError(message, code="payment_returned", body=paid)


def _retry_after(response: Response) -> float:
    """In seconds or as a date: a proxy before the server may write either."""
    text = response.headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}", text):
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time()) if text.endswith(" GMT") else 0.0
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _text_of(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_error(body: Any) -> bool:
    return isinstance(body, dict) and isinstance(body.get("error"), str) and isinstance(body.get("code"), str)


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except ValueError:
        return None
