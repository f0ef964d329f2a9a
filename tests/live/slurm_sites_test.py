#!/usr/bin/env python3
"""Two sites with a real slurmctld and slurmdbd run jobs, at once, and what Rota makes of their accounting is roughly what they did;
where it is not, the report says so itself. `./dev slurm sites` holds more of them to more. Usage: slurm_sites_test.py ROTA"""
import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "slurm"))
import sites  # noqa: E402  of tests/slurm
import slurm_site  # noqa: E402

if slurm_site.lacks():
    print(f"skipped: {slurm_site.lacks()}")
    sys.exit(77)

ROTA = os.path.abspath(sys.argv.pop(1))
JOBS, SECONDS, SEED = 60, 8, 1
KINDS = ("accounts", "limits")


class SlurmSites(unittest.TestCase):
    def test_a_rehearsal_is_like_what_really_happened_or_the_report_says_that_it_is_not(self):
        with tempfile.TemporaryDirectory(prefix="rota-sites-") as place:
            folders = {kind: os.path.join(place, kind) for kind in KINDS}
            wanted = [sites.Wanted(ROTA, kind, SEED, JOBS, folder, SECONDS) for kind, folder in folders.items()]
            self.assertEqual(sorted(sites.run_all(wanted, len(wanted))), sorted((kind, "") for kind in KINDS))
            for kind, folder in folders.items():
                found = sites.rehearse(ROTA, folder)
                with self.subTest(kind=kind, found=found):
                    self.assertEqual(found.jobs, JOBS)
                    self.assertGreater(found.real, 0)
                    self.assertLess(abs(found.off()), 0.6)
                    self.assertGreater(found.correlation, 0.5)
                    poor = abs(found.off()) > 0.1 or found.correlation < 0.8
                    self.assertTrue(found.distrusted or not poor)


if __name__ == "__main__":
    unittest.main()
