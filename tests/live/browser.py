"""A headless Chromium for tests, spoken to over the DevTools protocol through two pipes: no port, no library."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 120  # seconds after which what was waited for counts as never coming
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars",
         "--disable-extensions", "--remote-debugging-pipe", "--force-prefers-reduced-motion"]
KEYS = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38, "Tab": 9}


def program():
    """Its path; None: it is not installed."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One browser with one page. What the page writes to its console, and what it throws, is kept in `complaints`."""

    def __init__(self, language="en-GB"):
        self.folder = tempfile.mkdtemp(prefix="rota-browser-")
        self.complaints = []
        self.number = 0
        self.buffer = b""
        self.answers = {}
        to_read, self.to = os.pipe()
        self.come, from_write = os.pipe()

        def pipes():  # 3 is read, 4 is written
            os.dup2(to_read, 103)
            os.dup2(from_write, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        self.process = subprocess.Popen(
            [program(), *FLAGS, f"--lang={language}", f"--user-data-dir={self.folder}/profile", "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(from_write)
        self.page = None
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(info["targetId"] for info in targets if info["type"] == "page")
        self.page = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        try:
            self.page = None
            self.call("Browser.close")
            self.process.wait(20)
        except (OSError, AssertionError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.to)
        os.close(self.come)
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- the protocol

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.page:
            message["sessionId"] = self.page
        os.write(self.to, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while self.number not in self.answers:
            self.take(end, method)
        answer = self.answers.pop(self.number)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def take(self, end, what):
        """The next messages of the browser."""
        ready = select.select([self.come], [], [], max(0, end - time.monotonic()))[0]
        assert ready, f"the browser has not answered: {what}"
        piece = os.read(self.come, 1 << 20)
        assert piece, "the browser has ended"
        *messages, self.buffer = (self.buffer + piece).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self.answers[message["id"]] = message
            else:
                self.hear(message["method"], message["params"])

    def hear(self, method, its):
        if method == "Runtime.exceptionThrown":
            details = its["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded":
            self.complaints.append(f"{its['entry']['level']}: {its['entry']['text']} {its['entry'].get('url', '')}")
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"console.{its['type']}: {its['args']}")

    # -- what a person does

    def open(self, url):
        self.call("Page.navigate", url=url)

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)

    def dark(self, yes):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if yes else "light"}])

    def value(self, script):
        """Of an expression in the page; what is promised is waited for."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, f"{script}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def wait_for(self, script, what):
        """Until an expression of the page is true; it is looked at in each frame that the page draws."""
        found = self.value(f"""new Promise((done) => {{
            const end = performance.now() + {PATIENCE * 500};
            const look = () => {{
              let it = null;
              try {{ it = ({script}); }} catch (error) {{ it = null; }}
              if (it || performance.now() > end) done(Boolean(it));
              else setTimeout(look, 20);
            }};
            look();
          }})""")
        assert found, f"waited in vain for {what}; the page says: {self.value('document.body.innerText')[:3000]}"

    def press(self, key):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else "")
        code = {"key": key, "windowsVirtualKeyCode": KEYS.get(key, ord(key.upper()) if len(key) == 1 else 0)}
        if len(key) > 1:
            code["code"] = key
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", **code)

    def type(self, text):
        for letter in text:
            self.press(letter)

    def picture(self, path, whole=True):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
