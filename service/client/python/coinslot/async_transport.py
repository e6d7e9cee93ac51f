"""Sends requests with httpx, which has to be installed."""

from __future__ import annotations

import asyncio
from typing import Any, AsyncIterator

from .answers import SILENT_SECONDS, Attempts, Body, Events, Options, Request, Response
from .errors import CoinslotError

try:
    import httpx
except ImportError as missing:
    raise ImportError("AsyncCoinslot needs httpx: pip install httpx") from missing


class AsyncTransport:
    def __init__(self, options: Options) -> None:
        self._options = options
        # Redirects are not followed: the key must not reach another server.
        self._client = httpx.AsyncClient(follow_redirects=False, timeout=SILENT_SECONDS)

    async def send(self, request: Request) -> Any:
        attempts = Attempts(self._options, request)
        timeout = self._options.timeout if request.timeout is None else request.timeout
        while True:
            response: Response | None = None
            try:
                response = await asyncio.wait_for(self._attempt(request, timeout), timeout)
                return response.answer()
            except (CoinslotError, httpx.RequestError, asyncio.TimeoutError) as error:
                late = isinstance(error, (httpx.TimeoutException, asyncio.TimeoutError))
                seconds = attempts.wait_after(error, late=late, response=response)
            await self.pause(seconds)

    async def stream(self, request: Request) -> AsyncIterator[Any]:
        """Events of one connection, from its answer on."""
        try:
            async with self._opened(request, SILENT_SECONDS) as response:
                if response.status_code != 200:
                    content = await _content_of(response)
                    raise Response(self._options.base_url, response.status_code, _headers_of(response), content).error()
                events = Events()
                async for piece in response.aiter_bytes():
                    for event in events.feed(piece):
                        yield event
        except httpx.TransportError as error:
            raise OSError(str(error)) from error

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def close(self) -> None:
        await self._client.aclose()

    async def _attempt(self, request: Request, timeout: float) -> Response:
        async with self._opened(request, timeout) as response:
            content = await _content_of(response)
            return Response(self._options.base_url, response.status_code, _headers_of(response), content)

    def _opened(self, request: Request, timeout: float) -> Any:
        url = self._options.base_url + request.target()
        headers = request.headers(self._options)
        return self._client.stream(request.method, url, content=request.content(), headers=headers, timeout=timeout)


async def _content_of(response: Any) -> bytes:
    body = Body()
    async for piece in response.aiter_bytes():
        body.add(piece)
    return body.content


def _headers_of(response: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}
