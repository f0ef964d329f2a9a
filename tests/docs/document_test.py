#!/usr/bin/env python3
"""document.py runs what it should, in order and in one place, and fails where a reader would be let down."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).with_name("document.py")
ROOT = SCRIPT.parents[2]


def read(text, programs=None):
    """(exit code, output) of document.py on this document."""
    with tempfile.TemporaryDirectory() as folder:
        document = Path(folder, "page.md")
        document.write_text(text)
        done = subprocess.run([sys.executable, SCRIPT, document, "--programs", programs or folder], cwd=ROOT,
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class Documents(unittest.TestCase):
    def passes(self, text, counts):
        code, output = read(text)
        self.assertEqual(code, 0, output)
        self.assertIn(counts, output)

    def fails(self, text, *said):
        code, output = read(text)
        self.assertEqual(code, 1, output)
        for words in said:
            self.assertIn(words, output)

    def test_blocks_run_in_order_in_one_copy_of_the_repository(self):
        self.passes("```sh\nhead -1 README.md > first\n```\n\n```sh\ntest -s first\n```\n", "2 blocks ran")

    def test_a_command_that_fails_fails_the_test_and_says_where(self):
        self.fails("text\n\n```sh\necho before\nls /nowhere/at/all\n```\n",
                   "page.md:3", "before", "exit code 2 instead of 0")

    def test_a_failure_in_the_middle_of_a_block_or_a_pipe_counts(self):
        self.fails("```sh\nfalse\ntrue\n```\n", "exit code 1")
        self.fails("```sh\nfalse | cat\n```\n", "exit code 1")

    def test_in_a_console_block_only_prompts_are_commands(self):
        self.passes("```console\n$ echo one \\\n>   two\none two\nfalse\n$ true\n```\n", "1 blocks ran")
        self.fails("```console\n$ false\n```\n", "exit code 1")

    def test_an_announced_exit_code_is_held_to(self):
        self.passes("<!-- exit code: 1 -->\n```sh\nfalse\n```\n", "1 blocks ran")
        self.fails("<!-- exit code: 1 -->\n```sh\ntrue\n```\n", "exit code 0 instead of 1")

    def test_what_is_not_run_is_counted_with_its_reason(self):
        self.passes("<!-- not run: needs a cluster -->\n\n```sh\nfalse\n```\n", "not run: needs a cluster")
        self.passes("```sh\n./dev test\n```\n", "it calls ./dev")
        self.passes("```text\nfalse\n```\n```\nfalse\n```\n", "0 blocks ran, 0 failures, 0 not run")

    def test_a_mark_holds_for_the_next_block_only(self):
        self.fails("<!-- not run: no -->\n```sh\nfalse\n```\n```sh\nfalse\n```\n", "1 failures, 1 not run")
        self.fails("<!-- not run: no -->\nOther text.\n```sh\nfalse\n```\n", "1 failures, 0 not run")

    def test_a_link_that_leads_nowhere_fails(self):
        self.fails("[here](gone.md#part)\n", "the link to 'gone.md#part' leads nowhere")
        self.fails("# A part\n[here](#part)\n", "the link to '#part' leads nowhere")
        self.passes("# A `part`: its end\n[here](page.md) [there](https://example.org/x) [above](#a-part-its-end)\n", "0 failures")

    def test_blocks_that_speak_to_a_service_find_one(self):
        with tempfile.TemporaryDirectory() as programs:
            program = Path(programs, "rota")
            program.write_text('#!/bin/sh\ncase $1 in\n  serve) : >"$5"; exec tail -f /dev/null ;;\n'
                               '  status) test -e "$ROTA_SOCKET" ;;\nesac\n')
            program.chmod(0o755)
            mark = "<!-- with a service -->\n"
            code, output = read(mark + '```sh\ntest -e "$ROTA_SOCKET"\n```\n' + mark + "```sh\nfalse\n```\n", programs)
            self.assertEqual(code, 1, output)
            self.assertIn("1 blocks ran, 1 failures", output)
            program.write_text("#!/bin/sh\necho no machine >&2\nexit 1\n")
            code, output = read(mark + "```sh\ntrue\n```\n", programs)
            self.assertEqual(code, 1, output)
            self.assertIn("no machine", output)
        self.fails("<!-- with a service -->\n```sh\ntrue\n```\n", "there is no ")

    def test_the_built_programs_are_found_first(self):
        with tempfile.TemporaryDirectory() as programs:
            program = Path(programs, "rota")
            program.write_text("#!/bin/sh\necho built >&2\n")
            program.chmod(0o755)
            code, output = read("```sh\nrota\n```\n", programs)
            self.assertEqual(code, 0, output)

    def test_a_block_of_a_user_is_no_roots_and_names_no_service(self):
        with tempfile.TemporaryDirectory() as programs:
            Path(programs, "rota").write_text("#!/bin/sh\n")
            Path(programs, "rota").chmod(0o755)
            code, output = read('<!-- as a user -->\n```sh\ntest "$(id -u)" != 0\ntest -z "${ROTA_SOCKET:-}"\n'
                                'test -O "$XDG_RUNTIME_DIR"\ntest -w .\n```\n```sh\ntest -n "$ROTA_SOCKET"\n```\n', programs)
            self.assertEqual(code, 0, output)

    def test_services_that_blocks_leave_are_ended(self):
        with tempfile.TemporaryDirectory() as kept:
            waits = "sh -c 'mkfifo wire; echo $$ > $0/pid; read line < wire'"
            code, output = read(f'```sh\n{waits} {kept} serve "$PWD/state" < /dev/null > /dev/null 2>&1 &\n'
                                f"until test -s {kept}/pid; do sleep 0.1; done\n```\n")
            self.assertEqual(code, 0, output)
            words = Path("/proc", Path(kept, "pid").read_text().strip(), "cmdline")
            self.assertFalse(words.exists() and words.read_bytes())


if __name__ == "__main__":
    unittest.main()
