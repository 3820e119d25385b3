"""A real browser, driven over its DevTools protocol."""

import json
import os
import shutil
import subprocess
import time
import urllib.request
from contextlib import ExitStack, contextmanager, suppress

import pytest
from websockets.sync.client import connect

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
QUIET = (
    *("--headless=new", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0"),
)
SECONDS = 60.0


def found():
    """Return the path of a browser, None if there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


PROGRAM = found()
MARKS = [
    pytest.mark.browser,
    pytest.mark.skipif(PROGRAM is None, reason="there is no Chromium on this machine"),
]
"""Of tests that need it."""
_LEFT = "navigated or closed"


class LeftError(Exception):
    """The page went to another address while it was asked."""


class Tab:
    """One page of the browser."""

    def __init__(self, socket):
        self._socket = socket
        self._number = 0
        self.complaints = []
        for domain in ("Page", "Runtime", "Log", "DOM"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        """Send a command; return its result."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv(timeout=SECONDS))
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.complaints.append(json.dumps(answer["params"], ensure_ascii=False))
            if answer.get("id") == self._number:
                if _LEFT in (answer.get("error") or {}).get("message", ""):
                    raise LeftError
                assert "error" not in answer, answer["error"]
                return dict(answer["result"])

    def evaluate(self, script):
        """Return the value of a script; a promise is awaited."""
        found = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait_for(self, script):
        """Return the value of a script as soon as it is true."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            with suppress(LeftError):  # the page that comes next is asked again
                if value := self.evaluate(script):
                    return value
            time.sleep(0.02)
        raise AssertionError(f"never true: {script}")

    def open(self, url):
        """Go to an address and wait until its scripts are loaded."""
        self.call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete' && !!window.htmx")

    def reload(self):
        self.evaluate("window.before = true")
        self.call("Page.reload")
        self.wait_for("!window.before && document.readyState === 'complete' && !!window.htmx")

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **text)

    def click(self, selector):
        """Click an element as a mouse would."""
        self.evaluate(
            f"document.querySelector({json.dumps(selector)})"
            ".scrollIntoView({behavior: 'instant', block: 'center'})"
        )
        x, y = self.evaluate(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


class Browser:
    """A browser with a profile of its own."""

    def __init__(self, port, tabs):
        self._port, self._tabs = port, tabs

    def tab(self):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self._port}/json/new?about:blank", method="PUT"
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            url = json.load(answer)["webSocketDebuggerUrl"]
        return Tab(self._tabs.enter_context(connect(url, max_size=None)))


@contextmanager
def browser(program, folder):
    """Start a browser whose profile lies in a folder."""
    root = ("--no-sandbox",) if os.geteuid() == 0 else ()
    command = [program, *QUIET, *root, f"--user-data-dir={folder}", "about:blank"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            port_file = folder / "DevToolsActivePort"
            end = time.monotonic() + 2 * SECONDS
            while not (port_file.exists() and port_file.read_text().count("\n")):
                assert process.poll() is None, "the browser ended"
                assert time.monotonic() < end, "the browser opens no port"
                time.sleep(0.05)
            with ExitStack() as tabs:
                yield Browser(int(port_file.read_text().split()[0]), tabs)
        finally:
            process.terminate()
