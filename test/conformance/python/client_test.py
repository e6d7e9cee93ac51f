"""Both clients against a server that fails in every way, and webhooks against the service's own vectors."""

import asyncio
import json
import math
import sys
import threading
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Callable

import coinslot
from coinslot import AsyncCoinslot, Coinslot, CoinslotError, SignatureError, verify_webhook

VECTORS = json.loads(Path(sys.argv.pop()).read_text())
Behaviour = Callable[[BaseHTTPRequestHandler, int], None]


class Server(ThreadingHTTPServer):
    daemon_threads = True
    behave: Behaviour

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        self.released = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    server: Server

    def handle_one(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append((self.command, self.path, headers, content))
        self.server.behave(self, len(self.server.requests))

    do_GET = do_POST = do_PATCH = do_DELETE = handle_one

    def log_message(self, *_: Any) -> None:
        pass


def answer(handler: BaseHTTPRequestHandler, status: int, body: Any = None, headers: dict[str, str] | None = None) -> None:
    content = b"" if body is None else json.dumps(body).encode()
    handler.send_response(status)
    for name, value in {"content-length": str(len(content)), **(headers or {})}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(content)


def hang(handler: BaseHTTPRequestHandler, _: int) -> None:
    handler.server.released.wait(30)  # type: ignore[attr-defined]


def drip(handler: BaseHTTPRequestHandler, _: int) -> None:
    handler.send_response(200)
    handler.send_header("content-length", "1000000")
    handler.end_headers()
    # Each piece comes in time, and the whole never does.
    while not handler.server.released.wait(0.1):  # type: ignore[attr-defined]
        handler.wfile.write(b" ")
        handler.wfile.flush()


ERROR = {"error": "Too many. Wait.", "code": "rate_limited", "requestId": "req_1", "details": {"a": "is wrong"}}
HELP = {"link": '</errors/rate_limited>; rel="help"'}


class Cases(unittest.TestCase):
    """What both clients do."""

    def setUp(self) -> None:
        self.server = Server()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def tearDown(self) -> None:
        self.server.released.set()
        self.server.shutdown()
        self.server.server_close()

    def clients(self, act: Callable[[Any], Any], **options: Any) -> list[Any]:
        """The outcome with each of them."""
        return [self.plain(act, **options), self.waiting(act, **options)]

    def plain(self, act: Callable[[Any], Any], **options: Any) -> Any:
        self.server.requests.clear()
        client = Coinslot("csk_1", self.url, **options)
        client._transport.pause = lambda seconds: self.paused.append(seconds)  # type: ignore[method-assign]
        self.paused: list[float] = []
        try:
            return act(client)
        except CoinslotError as error:
            return error

    def waiting(self, act: Callable[[Any], Any], **options: Any) -> Any:
        self.server.requests.clear()
        self.paused = []

        async def whole() -> Any:
            async def pause(seconds: float) -> None:
                self.paused.append(seconds)

            async with AsyncCoinslot("csk_1", self.url, **options) as client:
                client._transport.pause = pause  # type: ignore[method-assign]
                result = act(client)
                if hasattr(result, "__aiter__"):
                    return [item async for item in result]
                return await result

        try:
            return asyncio.run(whole())
        except CoinslotError as error:
            return error

    def test_repeats_with_the_same_key_until_there_is_an_answer(self) -> None:
        self.server.behave = lambda handler, n: (
            answer(handler, 200, {"checkout": {"id": "chk_1"}})
            if n == 3
            else answer(handler, 503, ERROR, {"retry-after": "7"})
        )
        for run in (self.plain, self.waiting):
            made = run(lambda client: client.checkouts.create({"price": 1}))
            self.assertEqual(made, {"checkout": {"id": "chk_1"}})
            keys = {headers["idempotency-key"] for _, _, headers, _ in self.server.requests}
            self.assertEqual((len(self.server.requests), len(keys)), (3, 1))
            self.assertEqual(self.paused, [7.0, 7.0])
            method, path, headers, content = self.server.requests[0]
            self.assertEqual((method, path, json.loads(content)), ("POST", "/v1/checkouts", {"price": 1}))
            self.assertEqual(headers["authorization"], "Bearer csk_1")

    def test_repeats_with_the_same_key_after_an_answer_that_was_cut_off(self) -> None:
        def behave(handler: BaseHTTPRequestHandler, n: int) -> None:
            answer(handler, 200, {"callId": "tc_1"}, {"content-length": "100"} if n == 1 else None)

        self.server.behave = behave
        for run in (self.plain, self.waiting):
            self.assertEqual(run(lambda client: client.tools.call("a/b", {})), {"callId": "tc_1"})
            keys = {headers["idempotency-key"] for _, _, headers, _ in self.server.requests}
            self.assertEqual((len(self.server.requests), len(keys)), (2, 1))

    def test_tells_a_refusal_by_its_code_and_does_not_repeat_it(self) -> None:
        self.server.behave = lambda handler, _: answer(handler, 402, ERROR, HELP)
        for run in (self.plain, self.waiting):
            error = run(lambda client: client.tools.call("a/b", {}))
            self.assertIsInstance(error, CoinslotError)
            told = (str(error), error.code, error.status, error.request_id, error.details)
            self.assertEqual(error.doc_url, f"{self.url}/errors/rate_limited")
            self.assertEqual(told, ("Too many. Wait.", "rate_limited", 402, "req_1", {"a": "is wrong"}))
            self.assertEqual([path for _, path, _, _ in self.server.requests], ["/tools/a%2Fb"])

    def test_does_not_repeat_a_write_without_a_key(self) -> None:
        self.server.behave = lambda handler, _: answer(handler, 503, ERROR)
        for run in (self.plain, self.waiting):
            run(lambda client: client.request("PATCH /v1/agents/{id}", path={"id": "../x"}, body={}))
            self.assertEqual([path for _, path, _, _ in self.server.requests], ["/v1/agents/..%2Fx"])

    def test_repeats_no_change_and_no_deletion_by_name_because_they_take_no_key(self) -> None:
        self.server.behave = lambda handler, _: None
        for name in ("PATCH /v1/agents/{id}", "DELETE /v1/agents/{id}"):
            for run in (self.plain, self.waiting):
                error = run(lambda client: client.request(name, path={"id": "a"}, body={}, idempotency_key="k"))
                self.assertEqual((error.code, error.idempotency_key), ("connection_failed", None))
                self.assertEqual(["idempotency-key" in headers for _, _, headers, _ in self.server.requests], [False])

    def test_an_error_has_the_key_where_the_request_may_have_been_done(self) -> None:
        cut = {"content-length": "100"}
        text = {"content-length": "4"}
        failed = {"error": "It failed.", "code": "upstream_error"}
        open_cases: dict[str, Behaviour] = {
            "the connection closes": lambda handler, _: None,
            "the answer is cut off": lambda handler, _: answer(handler, 200, {}, cut),
            "the server hangs": hang,
            "a success is no JSON": lambda handler, _: (answer(handler, 200, None, text), handler.wfile.write(b"<ht>")),
            "a fault of the server": lambda handler, _: answer(handler, 500, {**failed, "code": "internal"}),
            "a proxy answers": lambda handler, _: answer(handler, 502),
            "it may go on": lambda handler, _: answer(handler, 503, failed),
            "a payment is on its way": lambda handler, _: answer(handler, 504, {**failed, "paymentId": "pay_1"}),
        }
        final_cases: dict[str, Behaviour] = {
            "it failed and costs nothing": lambda handler, _: answer(handler, 502, failed),
            "it is refused": lambda handler, _: answer(handler, 402, ERROR),
            "a person must approve it": lambda handler, _: answer(handler, 202, ERROR),
        }
        acts: list[Callable[[Any], Any]] = [
            lambda client: client.tools.call("a/b", {}),
            lambda client: client.request("POST /v1/wallet/deposit", body={"amount": 1}, timeout=0.3),
        ]
        for cases, is_open in ((open_cases, True), (final_cases, False)):
            for name, behave in cases.items():
                self.server.behave = behave
                for act in acts[1:] if behave is hang else acts:
                    for run in (self.plain, self.waiting):
                        with self.subTest(name):
                            error = run(act)
                            self.assertIsInstance(error, CoinslotError)
                            keys = {headers.get("idempotency-key") for _, _, headers, _ in self.server.requests}
                            self.assertEqual({error.idempotency_key}, keys if is_open else {None})
                            self.assertNotIn(None, keys)

    def test_an_error_has_the_key_where_an_earlier_attempt_may_have_been_done(self) -> None:
        # The retry is refused before its key is looked for, so it says nothing about the first attempt.
        for status in (429, 401):
            self.server.behave = lambda handler, n: None if n == 1 else answer(handler, status, ERROR)
            for run in (self.plain, self.waiting):
                error = run(lambda client: client.tools.call("a/b", {}), retries=1)
                keys = [headers["idempotency-key"] for _, _, headers, _ in self.server.requests]
                self.assertEqual((error.status, keys), (status, [error.idempotency_key] * 2))

    def test_follows_no_redirect(self) -> None:
        other = Server()
        other.behave = lambda handler, _: answer(handler, 200, {})
        to = {"location": f"http://127.0.0.1:{other.server_port}/"}
        self.server.behave = lambda handler, _: answer(handler, 302, None, to)
        for outcome in self.clients(lambda client: client.payments.get("pay_1")):
            self.assertEqual((outcome.code, outcome.status), ("unexpected_answer", 302))
        self.assertEqual(other.requests, [])
        other.shutdown()
        other.server_close()

    def test_gives_up_on_a_server_that_hangs_or_drips(self) -> None:
        for behave in (hang, drip):
            self.server.behave = behave
            for outcome in self.clients(lambda client: client.payments.get("pay_1"), timeout=0.5, retries=0):
                self.assertEqual((behave.__name__, getattr(outcome, "code", outcome)), (behave.__name__, "timeout"))

    def test_a_run_a_call_and_a_payment_take_a_timeout_and_the_error_has_the_key(self) -> None:
        self.server.behave = hang
        calls: list[Callable[[Any], Any]] = [
            lambda client: client.runs.create("a", {}, timeout=0.05),
            lambda client: client.runs.start("a", {}, timeout=0.05),
            lambda client: client.tools.call("a", {}, timeout=0.05),
            lambda client: client.pay("https://seller.example/", max_amount=1, timeout=0.05),
        ]
        for call in calls:
            for error in self.clients(call, retries=0):
                self.assertEqual(getattr(error, "code", error), "timeout")
                self.assertIsNotNone(error.idempotency_key)

    def test_ends_an_answer_that_has_no_end(self) -> None:
        # As the TypeScript client does: the same limit and the same error.
        def endless(status: int, kind: str, piece: bytes) -> Behaviour:
            def behave(handler: BaseHTTPRequestHandler, _: int) -> None:
                handler.send_response(status)
                handler.send_header("content-type", kind)
                handler.end_headers()
                self.sent = 0
                try:
                    while self.sent < 200_000_000:
                        handler.wfile.write(piece)
                        self.sent += len(piece)
                except OSError:
                    pass
                handler.close_connection = True

            return behave

        def follow(client: Any) -> Any:
            events = client.runs.stream("run_1")
            return events if hasattr(events, "__aiter__") else list(events)

        text = b"x" * 1_000_000
        for behave, act in (
            (endless(200, "application/json", text), lambda client: client.payments.get("pay_1")),
            (endless(402, "application/json", text), lambda client: client.payments.get("pay_1")),
            (endless(200, "text/event-stream", text), follow),
            (endless(200, "text/event-stream", b"data: " + text + b"\n"), follow),
            (endless(402, "application/json", text), follow),
        ):
            self.server.behave = behave
            for outcome in self.clients(act, retries=0):
                self.assertEqual(getattr(outcome, "code", outcome), "answer_too_large")
                self.assertIn("larger than 64 MB", str(outcome))
                self.assertLess(self.sent, 100_000_000)

    def test_reads_every_page(self) -> None:
        def pages(handler: BaseHTTPRequestHandler, _: int) -> None:
            offset = int(handler.path.rpartition("offset=")[2])
            answer(handler, 200, {"payments": [{"id": str(offset + each)} for each in range(2)], "total": 5})

        self.server.behave = pages
        plain, waiting = self.clients(lambda client: client.payments.list({"limit": 2}))
        wanted = [str(each) for each in range(6)]
        self.assertEqual([each["id"] for each in plain], wanted)
        self.assertEqual([each["id"] for each in waiting], wanted)

    def test_follows_a_run_over_a_broken_connection(self) -> None:
        def events(handler: BaseHTTPRequestHandler, n: int) -> None:
            handler.send_response(200)
            handler.send_header("content-type", "text/event-stream")
            handler.end_headers()
            states = ["queued", "running"] if n == 1 else ["running", "succeeded"]
            for state in states:
                handler.wfile.write(f": still here\n\nevent: run\ndata: {json.dumps({'status': state})}\n\n".encode())

        self.server.behave = events
        for run in (lambda client: client.runs.stream("run_1"),):
            self.assertEqual([each["status"] for each in self.waiting(run)], ["queued", "running", "succeeded"])
            self.server.requests.clear()
            found = self.plain(lambda client: list(client.runs.stream("run_1")))
            self.assertEqual([each["status"] for each in found], ["queued", "running", "succeeded"])

    def test_follows_a_run_through_a_chunk_that_breaks_and_a_restart(self) -> None:
        def chunk(handler: BaseHTTPRequestHandler, state: str) -> None:
            text = f"event: run\ndata: {json.dumps({'status': state})}\n\n".encode()
            handler.wfile.write(f"{len(text):x}\r\n".encode() + text + b"\r\n")

        def events(handler: BaseHTTPRequestHandler, n: int) -> None:
            handler.close_connection = True
            if n == 2:
                answer(handler, 503, ERROR)
                return
            handler.protocol_version = "HTTP/1.1"
            handler.send_response(200)
            handler.send_header("content-type", "text/event-stream")
            handler.send_header("transfer-encoding", "chunked")
            handler.end_headers()
            chunk(handler, "running" if n == 1 else "succeeded")
            if n > 1:
                handler.wfile.write(b"0\r\n\r\n")

        self.server.behave = events
        found = self.plain(lambda client: list(client.runs.stream("run_1")))
        self.assertEqual([each["status"] for each in found], ["running", "succeeded"])
        found = self.waiting(lambda client: client.runs.stream("run_1"))
        self.assertEqual([each["status"] for each in found], ["running", "succeeded"])

    def test_follows_a_run_no_longer_than_ten_breaks_and_no_refusal(self) -> None:
        def follow(client: Any) -> Any:
            events = client.runs.stream("run_1")
            return events if hasattr(events, "__aiter__") else list(events)

        for status, requests in ((502, 11), (404, 1)):
            self.server.behave = lambda handler, _: answer(handler, status, ERROR)
            for act in (self.plain, self.waiting):
                self.assertEqual(getattr(act(follow), "status", None), status)
                self.assertEqual(len(self.server.requests), requests)

    def test_gives_what_a_paid_address_answered(self) -> None:
        response = {"status": 201, "headers": {"X-A": ["1", "2"]}, "body": "AP8=", "encoding": "base64"}
        paid: dict[str, Any] = {"response": response, "payment": {"id": "pay_1", "status": "pending"}}
        self.server.behave = lambda handler, _: answer(handler, 200, paid)
        for got in self.clients(lambda client: client.pay("https://a.example", max_amount=0.05)):
            given = (got.status, got.headers, got.content, got.payment_id, got.payment_status)
            self.assertEqual(given, (201, {"x-a": "1, 2"}, b"\x00\xff", "pay_1", "pending"))
        for status, reason, code in (
            ("settled", None, "response_not_stored"),
            ("returned", "treasury_short", "payment_returned"),
        ):
            paid.update(response=None, payment={"id": "pay_1", "status": status, "reason": reason})
            for error in self.clients(lambda client: client.pay("https://a.example", max_amount=0.05)):
                self.assertEqual((error.code, error.body["payment"]["reason"]), (code, reason))
                self.assertEqual("was paid before" in str(error), reason is None)
                self.assertEqual("returned (treasury_short)" in str(error), reason is not None)

    def test_refuses_what_is_no_address_and_no_id(self) -> None:
        for make in (Coinslot, AsyncCoinslot):
            with self.assertRaises(CoinslotError):
                make("k", "localhost")
        for outcome in self.clients(lambda client: client.payments.get("..")):
            self.assertEqual((outcome.code, self.server.requests), ("invalid_options", []))


class Webhooks(unittest.TestCase):
    def test_takes_what_the_service_signs_and_nothing_else(self) -> None:
        self.assertGreater(len(VECTORS), 3)
        # The service sends no empty body.
        for each in (vector for vector in VECTORS if vector["body"] != ""):
            with self.subTest(each["id"]):
                now, body, secret = each["timestamp"], each["body"], each["secret"]
                names = ("webhook-id", "Webhook-Timestamp", "WEBHOOK-SIGNATURE")
                values = (each["id"], str(now), f"v1,AAAA v1a,x {each['signature']}")
                headers = dict(zip(names, values))
                self.assertEqual(verify_webhook(body, headers, secret, now=now), json.loads(body))
                self.assertEqual(verify_webhook(body.encode(), headers, secret, now=now + 300), json.loads(body))
                for code, wrong in {
                    "signature_invalid": (body + " ", headers, secret),
                    "signature_missing": (body, {"webhook-id": each["id"]}, secret),
                }.items():
                    with self.assertRaises(SignatureError) as caught:
                        verify_webhook(*wrong, now=now)
                    self.assertEqual(caught.exception.code, code)
                for late, tolerance in ((now + 301, 300), (now - 301, 300), (now + 301, math.nan)):
                    with self.assertRaises(SignatureError) as caught:
                        verify_webhook(body, headers, secret, now=late, tolerance_seconds=tolerance)
                    self.assertEqual(caught.exception.code, "timestamp_outside_tolerance")
                for incomplete in ("", "whsec_", "short"):
                    with self.assertRaises(ValueError):
                        verify_webhook(body, headers, incomplete, now=now)


class Package(unittest.TestCase):
    def test_has_its_version_and_no_other_names(self) -> None:
        self.assertEqual(coinslot.__version__, "0.1.0")
        with self.assertRaises(AttributeError):
            getattr(coinslot, "nothing")


unittest.main()
