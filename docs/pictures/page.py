#!/usr/bin/env python3
"""Makes docs/pictures/page.png, the picture of README.md: the page of a real service, with jobs that run, end and wait, in a
real browser. Usage: page.py ROTA [PICTURE]"""
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "live"))
import browser  # noqa: E402

MACHINE = 'name = "desk"\nlicences = "solver:10"\n[[nodes]]\nnames = "desk"\nprocessors = 16\nmemory = "64G"\n'
# name, processors, limit, seconds that it runs, licences
ENDED = [("mesh", 4, "1m", 2, 0), ("assemble", 8, "1m", 3, 0), ("solve-a", 4, "1m", 4, 2), ("check", 2, "1m", 1, 0), ("solve-b", 8, "1m", 5, 3),
         ("post", 1, "1m", 2, 0), ("mesh", 4, "1m", 3, 0), ("solve-c", 12, "1m", 2, 4)]
RUNS = [("wing-flutter", 8, "40m", 600, 6), ("mesh-fine", 4, "10m", 600, 0), ("post", 1, "5m", 600, 0)]
WAITS = [("wing-static", 8, "30m", 600, 2), ("full-model", 16, "2h", 600, 4), ("solve-d", 4, "20m", 600, 3), ("report", 1, "15m", 600, 0), ("modal", 4, "50m", 600, 3)]


def main(rota, picture):
    with tempfile.TemporaryDirectory(prefix="rota-picture-") as folder:
        environment = {**os.environ, "ROTA_SOCKET": f"{folder}/socket", "HOME": folder, "TZ": "UTC"}

        def tell(*words):
            return subprocess.run([rota, *words], env=environment, cwd=folder, check=True, capture_output=True, text=True).stdout

        def submit(name, processors, limit, seconds, licences):
            tell("submit", "--name", name, "--processors", str(processors), "--time", limit, "--output", "/dev/null",
                 *(["--licenses", f"solver:{licences}"] if licences else []), "--", "sleep", str(seconds))

        Path(folder, "rota.toml").write_text(MACHINE)
        tell("serve", "--background", "--state", f"{folder}/state", "--config", f"{folder}/rota.toml")
        page = browser.Browser()
        try:
            for job in ENDED:
                submit(*job)
            tell("wait", "all")
            for job in RUNS + WAITS:
                submit(*job)
            while tell("queue", "--json").count("\"RUNNING\"") < len(RUNS) - 1:
                time.sleep(0.1)
            page.size(1180, 760)
            page.open(re.search(r"http\S+", tell("page", "--no-open"))[0])
            page.wait_for(f"document.querySelectorAll('#queue tbody tr').length >= {len(RUNS) + len(WAITS)}", "the queue")
            # They are about the computer on which the picture is made: it has fewer processors than the one that it plays.
            page.value("document.getElementById('warnings').style.display = 'none'")
            page.picture(picture, whole=False)
        finally:
            page.close()
            tell("cancel", "all")
            tell("wait", "all")
            tell("stop")


main(os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else str(ROOT / "docs" / "pictures" / "page.png"))
