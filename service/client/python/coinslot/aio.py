"""The client with `await`; the one without is written from this file. It needs httpx."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, AsyncIterator, Generic, Mapping, Sequence, TypeVar, cast

from .answers import LONG_SECONDS, Options, PaidResponse, Request, is_retryable, path_of, segment
from .async_transport import AsyncTransport
from .errors import CoinslotError
from .webhooks import verify

if TYPE_CHECKING:
    from . import api

Item = TypeVar("Item")


class AsyncCoinslot:
    """The account or the agent that a key belongs to."""

    def __init__(
        self, key: str | None = None, base_url: str = "", *, timeout: float = 60.0, retries: int = 2
    ) -> None:
        self._transport = AsyncTransport(Options.of(key, base_url, timeout, retries))
        self.checkouts = AsyncCheckouts(self)
        self.payments = AsyncPayments(self)
        self.runs = AsyncRuns(self)
        self.tools = AsyncTools(self)
        self.webhook_endpoints = AsyncWebhookEndpoints(self)
        #: `client.request("GET /v1/agents/{id}", path={"id": id})`.
        self.request: api.AsyncRequest = cast("api.AsyncRequest", self._request)

    verify_webhook = staticmethod(verify)

    async def pay(
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
        return PaidResponse.of(await self._post("/v1/pay", wanted, idempotency_key, timeout=timeout))

    async def close(self) -> None:
        await self._transport.close()

    async def __aenter__(self) -> AsyncCoinslot:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _request(
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
        return await self._transport.send(Request(method, target, query, body, key, timeout, retries))

    async def _get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        return await self._transport.send(Request("GET", path, query))

    async def _post(
        self,
        path: str,
        body: Any,
        idempotency_key: str | None = None,
        *,
        timeout: float | None = None,
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        return await self._transport.send(Request("POST", path, query, body, _key_of(idempotency_key), timeout))

    async def _delete(self, path: str) -> Any:
        return await self._transport.send(Request("DELETE", path))


def _key_of(given: str | None) -> str:
    return given or str(uuid.uuid4())


class AsyncList(Generic[Item]):
    """Iterated, it is every item of every page; `page()` is one page."""

    def __init__(self, client: AsyncCoinslot, path: str, field: str, query: Mapping[str, Any]) -> None:
        self._client = client
        self._path = path
        self._field = field
        self._query = {name: value for name, value in query.items() if value is not None}

    async def page(self, offset: int | None = None) -> Page[Item]:
        query = self._query if offset is None else {**self._query, "offset": offset}
        body = await self._client._get(self._path, query)
        return Page(body[self._field], body["total"])

    async def __aiter__(self) -> AsyncIterator[Item]:
        offset = int(self._query.get("offset", 0))
        while True:
            page = await self.page(offset)
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


class AsyncCheckouts:
    def __init__(self, client: AsyncCoinslot) -> None:
        self._client = client

    async def create(
        self, checkout: api.CheckoutTerms, *, idempotency_key: str | None = None
    ) -> api.PostV1CheckoutsAnswer:
        """The secret that signs the checkout's deliveries is only in this answer."""
        made: api.PostV1CheckoutsAnswer = await self._client._post("/v1/checkouts", checkout, idempotency_key)
        return made

    async def get(self, id: str) -> api.Checkout:
        body = await self._client._get(f"/v1/checkouts/{segment(id)}")
        checkout: api.Checkout = body["checkout"]
        return checkout

    def list(self, query: api.GetV1CheckoutsQuery | None = None) -> AsyncList[api.Checkout]:
        return AsyncList(self._client, "/v1/checkouts", "checkouts", query or {})

    async def expire(self, id: str) -> None:
        """Closes its link."""
        await self._client._delete(f"/v1/checkouts/{segment(id)}")

    async def test_payment(
        self, id: str, body: api.PostV1CheckoutsIdTestPaymentBody, *, idempotency_key: str | None = None
    ) -> api.CheckoutPayment:
        """Pays a checkout in test mode, as a customer with these inputs would."""
        paid: api.CheckoutPayment = await self._client._post(
            f"/v1/checkouts/{segment(id)}/test-payment", body, idempotency_key
        )
        return paid


class AsyncPayments:
    def __init__(self, client: AsyncCoinslot) -> None:
        self._client = client

    async def get(self, id: str) -> api.PaymentWithRefunds:
        body = await self._client._get(f"/v1/payments/{segment(id)}")
        payment: api.PaymentWithRefunds = body["payment"]
        return payment

    def list(self, query: api.GetV1PaymentsQuery | None = None) -> AsyncList[api.Payment]:
        return AsyncList(self._client, "/v1/payments", "payments", query or {})

    async def refund(
        self, id: str, body: api.PostV1PaymentsIdRefundBody, *, idempotency_key: str | None = None
    ) -> api.Refund:
        answer = await self._client._post(f"/v1/payments/{segment(id)}/refund", body, idempotency_key)
        refund: api.Refund = answer["refund"]
        return refund


class AsyncRuns:
    def __init__(self, client: AsyncCoinslot) -> None:
        self._client = client

    async def create(
        self,
        slug: str,
        inputs: Mapping[str, Any],
        *,
        max_cost: float | None = None,
        idempotency_key: str | None = None,
        timeout: float = LONG_SECONDS,
    ) -> api.RunResult:
        """Runs an asset and waits for its output. Only a success is charged."""
        result: api.RunResult = await self._start(slug, inputs, max_cost, idempotency_key, timeout, {})
        return result

    async def start(
        self,
        slug: str,
        inputs: Mapping[str, Any],
        *,
        max_cost: float | None = None,
        idempotency_key: str | None = None,
        timeout: float = LONG_SECONDS,
    ) -> str:
        """Starts a run in the background and gives its id; `wait` or `stream` follows it."""
        answer = await self._start(slug, inputs, max_cost, idempotency_key, timeout, {"async": True})
        return str(answer["runId"])

    async def get(self, id: str) -> api.Run:
        body = await self._client._get(f"/v1/runs/{segment(id)}")
        run: api.Run = body["run"]
        return run

    def list(self, query: api.GetV1RunsQuery | None = None) -> AsyncList[api.RunSummary]:
        return AsyncList(self._client, "/v1/runs", "runs", query or {})

    async def cancel(self, id: str) -> None:
        await self._client._post(f"/v1/runs/{segment(id)}/cancel", None)

    async def stream(self, id: str) -> AsyncIterator[api.Run | api.RunSummary]:
        """The run at each of its states, until it has ended. Connects again when the connection breaks."""
        last: str | None = None
        broken = 0
        while True:
            try:
                request = Request("GET", f"/v1/runs/{segment(id)}/events")
                async for run in self._client._transport.stream(request):
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
            await self._client._transport.pause(1.0)

    async def wait(self, id: str) -> api.Run:
        """The run once it has ended, also if it failed."""
        async for run in self.stream(id):
            if run["status"] in _ENDED:
                break
        return await self.get(id)

    async def _start(
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
        return await self._client._post("/v1/run", wanted, idempotency_key, timeout=timeout)


_ENDED = frozenset(("succeeded", "failed", "canceled"))
_BROKEN_MAX = 10


class AsyncTools:
    def __init__(self, client: AsyncCoinslot) -> None:
        self._client = client

    def list(self, query: api.GetToolsQuery | None = None) -> AsyncList[api.GetToolsAnswerToolsItem]:
        return AsyncList(self._client, "/tools", "tools", query or {})

    async def search(self, words: str, limit: int = 20) -> Sequence[api.GetToolsAnswerToolsItem]:
        """The tools that fit the words best, best first."""
        page = await self.list({"search": words, "limit": limit}).page()
        return page.items

    async def call(
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
        result: api.PostToolsSlugAnswer = await self._client._post(
            f"/tools/{segment(slug)}", dict(input), idempotency_key, timeout=timeout, query=query
        )
        return result


class AsyncWebhookEndpoints:
    def __init__(self, client: AsyncCoinslot) -> None:
        self._client = client

    async def create(
        self, endpoint: api.PostV1WebhookEndpointsBody, *, idempotency_key: str | None = None
    ) -> api.PostV1WebhookEndpointsAnswer:
        """The secret that signs its events is only in this answer."""
        made: api.PostV1WebhookEndpointsAnswer = await self._client._post(
            "/v1/webhook-endpoints", endpoint, idempotency_key
        )
        return made

    def list(self, query: api.GetV1WebhookEndpointsQuery | None = None) -> AsyncList[api.WebhookEndpoint]:
        return AsyncList(self._client, "/v1/webhook-endpoints", "webhookEndpoints", query or {})

    async def delete(self, id: str) -> None:
        await self._client._delete(f"/v1/webhook-endpoints/{segment(id)}")
