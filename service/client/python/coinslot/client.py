"""The client. Written from aio.py by describe-python.mjs. Do not edit."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Iterator, Generic, Mapping, Sequence, TypeVar, cast

from .answers import LONG_SECONDS, Options, PaidResponse, Request, is_retryable, path_of, segment
from .sync_transport import Transport
from .errors import CoinslotError
from .webhooks import verify

if TYPE_CHECKING:
    from . import api

Item = TypeVar("Item")


class Coinslot:
    """The account or the agent that a key belongs to."""

    def __init__(
        self, key: str | None = None, base_url: str = "", *, timeout: float = 60.0, retries: int = 2
    ) -> None:
        self._transport = Transport(Options.of(key, base_url, timeout, retries))
        self.checkouts = Checkouts(self)
        self.payments = Payments(self)
        self.runs = Runs(self)
        self.tools = Tools(self)
        self.webhook_endpoints = WebhookEndpoints(self)
        #: `client.request("GET /v1/agents/{id}", path={"id": id})`.
        self.request: api.Request = cast("api.Request", self._request)

    verify_webhook = staticmethod(verify)

    def pay(
        self,
        url: str,
        *,
        max_amount: float,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
        timeout: float = LONG_SECONDS,
    ) -> PaidResponse:
        """
        The server calls the address for you and pays what it costs by x402 or MPP, from the balance and within the
        limits of the key's agent, but never more than `max_amount` USDC.
        """
        wanted = {"url": url, "method": method, "headers": dict(headers or {}), "maxAmount": max_amount}
        if body is not None:
            wanted["body"] = body
        return PaidResponse.of(self._post("/v1/pay", wanted, idempotency_key, timeout=timeout))

    def close(self) -> None:
        self._transport.close()

    def __enter__(self) -> Coinslot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _request(
        self,
        name: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        retries: int | None = None,
    ) -> Any:
        method, target = path_of(name, path)
        # Only a POST takes a key, and not every one, so a request is repeated only where the caller passes one.
        takes_key = method == "POST"
        if method != "GET" and not (takes_key and idempotency_key):
            retries = 0
        key = _key_of(idempotency_key) if takes_key else None
        return self._transport.send(Request(method, target, query, body, key, timeout, retries))

    def _get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return self._transport.send(Request("GET", path, query))

    def _post(
        self,
        path: str,
        body: Any,
        idempotency_key: str | None = None,
        *,
        timeout: float | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        return self._transport.send(Request("POST", path, query, body, _key_of(idempotency_key), timeout))

    def _delete(self, path: str) -> Any:
        return self._transport.send(Request("DELETE", path))


def _key_of(given: str | None) -> str:
    return given or str(uuid.uuid4())


class List(Generic[Item]):
    """Iterated, it is every item of every page; `page()` is one page."""

    def __init__(self, client: Coinslot, path: str, field: str, query: Mapping[str, Any]) -> None:
        self._client = client
        self._path = path
        self._field = field
        self._query = {name: value for name, value in query.items() if value is not None}

    def page(self, offset: int | None = None) -> Page[Item]:
        query = self._query if offset is None else {**self._query, "offset": offset}
        body = self._client._get(self._path, query)
        return Page(body[self._field], body["total"])

    def __iter__(self) -> Iterator[Item]:
        offset = int(self._query.get("offset", 0))
        while True:
            page = self.page(offset)
            for item in page.items:
                yield item
            offset += len(page.items)
            # A list that shrinks meanwhile ends with an empty page.
            if len(page.items) == 0 or offset >= page.total:
                return


class Page(Generic[Item]):
    def __init__(self, items: list[Item], total: int) -> None:
        self.items = items
        #: How many there are on all pages.
        self.total = total


class Checkouts:
    def __init__(self, client: Coinslot) -> None:
        self._client = client

    def create(
        self, checkout: api.CheckoutTerms, *, idempotency_key: str | None = None
    ) -> api.PostV1CheckoutsAnswer:
        """The secret that signs the checkout's deliveries is only in this answer."""
        made: api.PostV1CheckoutsAnswer = self._client._post("/v1/checkouts", checkout, idempotency_key)
        return made

    def get(self, id: str) -> api.Checkout:
        body = self._client._get(f"/v1/checkouts/{segment(id)}")
        checkout: api.Checkout = body["checkout"]
        return checkout

    def list(self, query: api.GetV1CheckoutsQuery | None = None) -> List[api.Checkout]:
        return List(self._client, "/v1/checkouts", "checkouts", query or {})

    def expire(self, id: str) -> None:
        """Closes its link."""
        self._client._delete(f"/v1/checkouts/{segment(id)}")

    def test_payment(
        self, id: str, body: api.PostV1CheckoutsIdTestPaymentBody, *, idempotency_key: str | None = None
    ) -> api.CheckoutPayment:
        """Pays a checkout in test mode, as a customer with these inputs would."""
        paid: api.CheckoutPayment = self._client._post(
            f"/v1/checkouts/{segment(id)}/test-payment", body, idempotency_key
        )
        return paid


class Payments:
    def __init__(self, client: Coinslot) -> None:
        self._client = client

    def get(self, id: str) -> api.PaymentWithRefunds:
        body = self._client._get(f"/v1/payments/{segment(id)}")
        payment: api.PaymentWithRefunds = body["payment"]
        return payment

    def list(self, query: api.GetV1PaymentsQuery | None = None) -> List[api.Payment]:
        return List(self._client, "/v1/payments", "payments", query or {})

    def refund(
        self, id: str, body: api.PostV1PaymentsIdRefundBody, *, idempotency_key: str | None = None
    ) -> api.Refund:
        answer = self._client._post(f"/v1/payments/{segment(id)}/refund", body, idempotency_key)
        refund: api.Refund = answer["refund"]
        return refund


class Runs:
    def __init__(self, client: Coinslot) -> None:
        self._client = client

    def create(
        self,
        slug: str,
        inputs: Mapping[str, Any],
        *,
        max_cost: float | None = None,
        idempotency_key: str | None = None,
        timeout: float = LONG_SECONDS,
    ) -> api.RunResult:
        """Runs an asset and waits for its output. Only a success is charged."""
        result: api.RunResult = self._start(slug, inputs, max_cost, idempotency_key, timeout, {})
        return result

    def start(
        self,
        slug: str,
        inputs: Mapping[str, Any],
        *,
        max_cost: float | None = None,
        idempotency_key: str | None = None,
        timeout: float = LONG_SECONDS,
    ) -> str:
        """Starts a run in the background and gives its id; `wait` or `stream` follows it."""
        answer = self._start(slug, inputs, max_cost, idempotency_key, timeout, {"async": True})
        return str(answer["runId"])

    def get(self, id: str) -> api.Run:
        body = self._client._get(f"/v1/runs/{segment(id)}")
        run: api.Run = body["run"]
        return run

    def list(self, query: api.GetV1RunsQuery | None = None) -> List[api.RunSummary]:
        return List(self._client, "/v1/runs", "runs", query or {})

    def cancel(self, id: str) -> None:
        self._client._post(f"/v1/runs/{segment(id)}/cancel", None)

    def stream(self, id: str) -> Iterator[api.Run | api.RunSummary]:
        """The run at each of its states, until it has ended. Connects again when the connection breaks."""
        last: str | None = None
        broken = 0
        while True:
            try:
                request = Request("GET", f"/v1/runs/{segment(id)}/events")
                for run in self._client._transport.stream(request):
                    broken = 0
                    # A new connection begins with the present state.
                    if run["status"] != last:
                        yield run
                    last = run["status"]
                    if last in _ENDED:
                        return
            except (OSError, CoinslotError) as error:
                if isinstance(error, CoinslotError) and not is_retryable("GET", error.status):
                    raise
                if broken >= _BROKEN_MAX:
                    raise
            broken += 1
            # Also where each connection ends without an error and without an event.
            if broken > _BROKEN_MAX:
                message = f"The events of {id} end again and again before it has ended. Get it by its id, or try again later."
                raise CoinslotError(message, code="connection_failed")
            self._client._transport.pause(1.0)

    def wait(self, id: str) -> api.Run:
        """The run once it has ended, also if it failed."""
        for run in self.stream(id):
            if run["status"] in _ENDED:
                break
        return self.get(id)

    def _start(
        self,
        slug: str,
        inputs: Mapping[str, Any],
        max_cost: float | None,
        idempotency_key: str | None,
        timeout: float,
        more: Mapping[str, Any],
    ) -> Any:
        wanted: dict[str, Any] = {"rdaSlug": slug, "inputs": dict(inputs), **more}
        if max_cost is not None:
            wanted["maxCost"] = max_cost
        return self._client._post("/v1/run", wanted, idempotency_key, timeout=timeout)


_ENDED = frozenset(("succeeded", "failed", "canceled"))
_BROKEN_MAX = 10


class Tools:
    def __init__(self, client: Coinslot) -> None:
        self._client = client

    def list(self, query: api.GetToolsQuery | None = None) -> List[api.GetToolsAnswerToolsItem]:
        return List(self._client, "/tools", "tools", query or {})

    def search(self, words: str, limit: int = 20) -> Sequence[api.GetToolsAnswerToolsItem]:
        """The tools that fit the words best, best first."""
        page = self.list({"search": words, "limit": limit}).page()
        return page.items

    def call(
        self,
        slug: str,
        input: Mapping[str, Any],
        *,
        max_cost: float | None = None,
        idempotency_key: str | None = None,
        timeout: float = LONG_SECONDS,
    ) -> api.PostToolsSlugAnswer:
        """Only a success is charged; a failure is a `CoinslotError`. A call that costs more than `max_cost` USDC is refused."""
        query = None if max_cost is None else {"maxCost": max_cost}
        result: api.PostToolsSlugAnswer = self._client._post(
            f"/tools/{segment(slug)}", dict(input), idempotency_key, timeout=timeout, query=query
        )
        return result


class WebhookEndpoints:
    def __init__(self, client: Coinslot) -> None:
        self._client = client

    def create(
        self, endpoint: api.PostV1WebhookEndpointsBody, *, idempotency_key: str | None = None
    ) -> api.PostV1WebhookEndpointsAnswer:
        """The secret that signs its events is only in this answer."""
        made: api.PostV1WebhookEndpointsAnswer = self._client._post(
            "/v1/webhook-endpoints", endpoint, idempotency_key
        )
        return made

    def list(self, query: api.GetV1WebhookEndpointsQuery | None = None) -> List[api.WebhookEndpoint]:
        return List(self._client, "/v1/webhook-endpoints", "webhookEndpoints", query or {})

    def delete(self, id: str) -> None:
        self._client._delete(f"/v1/webhook-endpoints/{segment(id)}")
