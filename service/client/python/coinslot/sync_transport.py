"""Sends requests with the standard library."""

from __future__ import annotations

import http.client
import time
from typing import Any, Iterator
from urllib.parse import urlsplit

from .answers import SILENT_SECONDS, Attempts, Body, Events, Options, Request, Response
from .errors import CoinslotError

_PIECE_BYTES = 65_536


class Transport:
    def __init__(self, options: Options) -> None:
        self._options = options

    def send(self, request: Request) -> Any:
        attempts = Attempts(self._options, request)
        while True:
            response: Response | None = None
            try:
                response = self._attempt(request)
                return response.answer()
            except (CoinslotError, OSError, http.client.HTTPException) as error:
                late = isinstance(error, TimeoutError)
                seconds = attempts.wait_after(error, late=late, response=response)
            self.pause(seconds)

    def stream(self, request: Request) -> Iterator[Any]:
        """Events of one connection, from its answer on."""
        connection = self._connected(SILENT_SECONDS)
        try:
            response = self._answered(connection, request)
            if response.status != 200:
                body = Body()
                while piece := response.read1(_PIECE_BYTES):
                    body.add(piece)
                raise Response(self._options.base_url, response.status, _headers_of(response), body.content).error()
            events = Events()
            while piece := response.read1(_PIECE_BYTES):
                yield from events.feed(piece)
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def close(self) -> None:
        """Nothing is kept open between two requests."""

    def _attempt(self, request: Request) -> Response:
        timeout = self._options.timeout if request.timeout is None else request.timeout
        ends = time.monotonic() + timeout
        connection = self._connected(timeout)
        try:
            with self._answered(connection, request) as response:
                body = Body()
                # The socket's own limit is one for each piece: a server that drips would never end.
                while piece := response.read1(_PIECE_BYTES):
                    body.add(piece)
                    left = ends - time.monotonic()
                    if left <= 0:
                        raise TimeoutError
                    if connection.sock is not None:
                        connection.sock.settimeout(left)
                # `read1` ends without an error where the connection breaks before the announced length.
                if response.length:
                    raise http.client.IncompleteRead(body.content, response.length)
                return Response(self._options.base_url, response.status, _headers_of(response), body.content)
        finally:
            connection.close()

    def _connected(self, timeout: float) -> http.client.HTTPConnection:
        parts = urlsplit(self._options.base_url)
        if parts.scheme == "https":
            return http.client.HTTPSConnection(parts.hostname or "", parts.port, timeout=timeout)
        return http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout)

    def _answered(self, connection: http.client.HTTPConnection, request: Request) -> http.client.HTTPResponse:
        # Redirects are not followed: the key must not reach another server.
        target = urlsplit(self._options.base_url).path + request.target()
        connection.request(request.method, target, request.content(), request.headers(self._options))
        return connection.getresponse()


def _headers_of(response: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}
