"""A headless Chromium for tests, spoken to over the DevTools protocol through two pipes: no port, no library."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 600  # seconds after which what was waited for counts as never coming
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
        self.page = self.call("Target.attachToTarget", targetId=self.first_page(), flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def first_page(self):
        """The browser answers before it has opened one."""
        for _ in range(PATIENCE * 50):
            for info in self.call("Target.getTargets")["targetInfos"]:
                if info["type"] == "page":
                    return info["targetId"]
            time.sleep(0.02)
        raise AssertionError("the browser opens no page")

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
        end = time.monotonic() + PATIENCE * 1.5  # what waits in the page is told first that it waits in vain
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
        self.load("Page.navigate", url=url)

    def reload(self):
        self.load("Page.reload")

    def load(self, method, **parameters):
        """Until the new page is there: what is asked before may still be answered by the old one."""
        self.value("window.left = true")
        self.call(method, **parameters)
        end = time.monotonic() + PATIENCE
        while not self.is_there():
            assert time.monotonic() < end, f"{method}: the page does not come"
            time.sleep(0.02)

    def is_there(self):
        try:
            return self.value("!window.left && document.readyState === 'complete'")
        except AssertionError:  # neither of the two is
            return False

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=width < 600)

    def dark(self, yes):
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if yes else "light"}])

    def value(self, script):
        """The value of an expression in the page; what is promised is waited for."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, f"{script}: {answer['exceptionDetails']}"
        return answer["result"].get("value")

    def wait_for(self, script, what):
        """Until an expression of the page is true."""
        found = self.value(f"""new Promise((done) => {{
            const end = performance.now() + {PATIENCE * 1000};
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
