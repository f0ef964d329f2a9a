"""A service that answers as docs/api.md says, on a Unix socket, with answers that a test lays down beforehand."""
import json
import socketserver
import threading
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qsl, urlsplit

NOON = 1795996800  # 2026-11-30T00:00:00Z; what the fake service takes for now


class Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    request_queue_size = 64


class FakeService:
    """Answers by (verb, path). An answer is (status, body), a list of such (one each time, the last one for good), or a
    function of the request that gives one. Bodies that are no bytes go out as JSON. What is in `raw` goes out as it is, each
    once, in place of an answer."""

    def __init__(self, path):
        self.answers, self.requests, self.raw = {}, [], []
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answered(self):
                service.answer(self)

            do_GET = do_POST = do_PUT = do_DELETE = answered

            def address_string(self):
                return "local"

            def log_message(self, *_):
                pass

            def handle(self):
                try:
                    super().handle()
                except (BrokenPipeError, ConnectionResetError):  # the client has gone
                    pass

        self.server = Server(str(path), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, handler):
        url = urlsplit(handler.path)
        body = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        request = {"verb": handler.command, "path": url.path, "query": dict(parse_qsl(url.query)),
                   "body": json.loads(body) if body else None, "headers": dict(handler.headers)}
        self.requests.append(request)
        handler.close_connection = True
        if self.raw:
            handler.wfile.write(self.raw.pop(0))
            return
        answer = self.answers.get((handler.command, url.path), (404, problem(404, f"There is no {url.path} here.")))
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = answer(request)
        status, content, *headers = answer
        text = content if isinstance(content, bytes) else json.dumps(content).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "text/plain" if isinstance(content, bytes) else "application/json")
        handler.send_header("Content-Length", str(len(text)))
        for name, value in (headers[0] if headers else {}).items():
            handler.send_header(name, value)
        handler.end_headers()
        if text:  # a client that has read it all may be gone
            handler.wfile.write(text)


def problem(status, detail):
    return {"type": "about:blank", "title": "Problem", "status": status, "detail": detail}


def job(number, **more):
    """A JOB that runs."""
    return {"id": str(number), "name": "model", "user": "ada", "uid": 1000, "partition": "batch", "state": "RUNNING",
            "priority": 0, "processors": 4, "nodes": 1, "limit": 7200.0, "submit": NOON - 900.0, "start": NOON - 754.0,
            "elapsed": 754.0, "node_list": "n1"} | more


def waiting(number, **more):
    out = job(number, state="PENDING", reason="Resources", why="All 16 processors are in use.",
              expected_start=NOON + 3600.0)
    for name in ("start", "elapsed", "node_list"):
        del out[name]
    return out | more
