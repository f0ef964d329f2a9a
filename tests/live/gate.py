"""A port that asks for a token before it leads to a service's Unix socket, as a service does that listens on TCP."""
import http.server
import json
import threading

from service import UnixConnection


class Gate:
    """All but the page itself needs `Authorization: Bearer TOKEN`. `asked` has the paths that came with it.

    A client that asks for the events with another token is refused only once one asked for the plan with the right
    one."""

    def __init__(self, path, token):
        gate = self
        self.asked = []
        known = threading.Event()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path != "/" and self.headers["Authorization"] != f"Bearer {token}":
                    if self.headers["Authorization"] and self.path == "/v1/events":
                        known.wait()
                    return self.answer(401, json.dumps({"status": 401, "detail": "a token is needed."}).encode())
                gate.asked.append(self.path.split("?")[0])
                if gate.asked[-1] == "/v1/plan":
                    known.set()
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                try:
                    self.pass_on(UnixConnection(path), body)
                except OSError:
                    pass  # one of the two has gone

            def pass_on(self, connection, body):
                connection.request(self.command, self.path, body or None)
                answer = connection.getresponse()
                self.send_response(answer.status)
                for name in ("Content-Type", "Content-Security-Policy"):
                    if answer.getheader(name):
                        self.send_header(name, answer.getheader(name))
                self.end_headers()
                while piece := answer.read1(65536):
                    self.wfile.write(piece)
                connection.close()

            do_POST = do_GET

            def answer(self, status, body):
                self.send_response(status)
                self.send_header("Content-Type", "application/problem+json")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://localhost:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
