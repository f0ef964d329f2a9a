#!/usr/bin/env python3
"""./dev compiles with the settings that a verb promises, whichever verb came before; no compiler is called."""
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# Writes the cache of a build as its preset and its options have it, and down with which settings something is built.
CMAKE = r"""#!/usr/bin/env python3
import json, pathlib, sys
words = sys.argv[1:]
if "--build" in words:
    folder = pathlib.Path(words[words.index("--build") + 1])
    cache = dict(line.split("=", 1) for line in (folder / "CMakeCache.txt").read_text().splitlines())
    speed = cache.get("ROTA_PROFILE:STRING") == "use" and cache.get("CMAKE_INTERPROCEDURAL_OPTIMIZATION:BOOL") == "ON"
    with open("built", "a") as built:
        built.write(folder.name + (" for speed" if speed else " plain") + "\n")
    sys.exit()
name = words[words.index("--preset") + 1]
presets = json.loads(pathlib.Path("CMakePresets.json").read_text())["configurePresets"]
values = next(p for p in presets if p["name"] == name)["cacheVariables"]
values.update(words[i + 1].split("=", 1) for i, word in enumerate(words) if word == "-D")
folder = pathlib.Path("build", name)
(folder / "src").mkdir(parents=True, exist_ok=True)
(folder / "build.ninja").touch()
type_of = lambda name: "STRING" if name == "ROTA_PROFILE" else "BOOL"
(folder / "CMakeCache.txt").write_text("".join(f"{n}:{type_of(n)}={v}\n" for n, v in values.items()))
training = folder / "rota_training"
training.write_text("#!/bin/sh\n")
training.chmod(0o755)
"""
DPKG_QUERY = '#!/bin/sh\nshift 3\nfor package; do echo "installed $package"; done\n'
CTEST = "#!/bin/sh\n"


class Builds(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ["dev", "CMakePresets.json", "cmake/tests.cmake", "docs/dependencies.md"]:
            (self.root / name).parent.mkdir(exist_ok=True)
            shutil.copy2(ROOT / name, self.root / name)
        (self.root / "bin").mkdir()
        for name, text in [("cmake", CMAKE), ("dpkg-query", DPKG_QUERY), ("ctest", CTEST)]:
            (self.root / "bin" / name).write_text(text)
            (self.root / "bin" / name).chmod(0o755)

    def built_by(self, *verbs):
        """What these verbs, one after the other, have built in the end; what runs then is not there."""
        for verb in verbs:
            (self.root / "built").unlink(missing_ok=True)
            done = subprocess.run(["./dev", *verb.split()], cwd=self.root, capture_output=True, text=True,
                                  env=os.environ | {"PATH": f"{self.root}/bin:{os.environ['PATH']}"})
            self.assertTrue((self.root / "built").exists(), done.stdout + done.stderr)
        return (self.root / "built").read_text().splitlines()

    def test_what_is_used_and_tested_is_built_fast(self):
        self.assertEqual(self.built_by("build"), ["release plain"])
        self.assertEqual(self.built_by("test cli"), ["release plain"])
        self.assertEqual(self.built_by("build"), ["release plain"])

    def test_a_tree_with_tests_keeps_them(self):
        self.built_by("test cli", "build")
        self.assertIn("ROTA_TESTS:BOOL=ON", (self.root / "build" / "release" / "CMakeCache.txt").read_text())

    def test_what_measures_is_built_for_speed_in_a_tree_of_its_own(self):
        for verb in ["build --optimized", "bench", "swarm", "truth", "slurm"]:
            with self.subTest(verb):
                shutil.rmtree(self.root / "build", ignore_errors=True)
                self.assertEqual(self.built_by("test cli", verb), ["profile plain", "optimized for speed"])
                self.assertEqual(self.built_by(verb), ["optimized for speed"])

    def test_all_tests_run_over_both_trees(self):
        self.assertEqual(self.built_by("test"), ["release plain", "asan plain", "asan plain"])


if __name__ == "__main__":
    unittest.main()
