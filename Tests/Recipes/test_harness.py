"""Tests of the program that follows pages: it must notice every difference that a reader would."""

import contextlib
import io
import pathlib
import tempfile
import unittest
import unittest.mock

import page
import run
from matching import Matcher, contains

ONE = "01939b4e-7c1a-7d2e-9a54-0c8f6f1f3c11"
TWO = "01a203c4-a71d-7ae2-ac18-2d1895e60816"


class Pages(unittest.TestCase):
    def follow(self, text):
        """The exit status and the output for a page of this text."""
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "page.md"
            path.write_text(text)
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                session = run.Session(path, directory)
                try:
                    return session.follow()
                finally:
                    session.close()

    def test_a_page_that_holds(self):
        self.assertEqual(self.follow("```json a.json\n{}\n```\n```console\n$ cat a.json\n{}\n```\n"), 1)

    def test_another_output_fails(self):
        with unittest.mock.patch.object(run, "SECONDS", 0), self.assertRaises(run.Failure):
            self.follow("```console\n$ echo one\ntwo\n```\n")

    def test_a_line_more_fails(self):
        with self.assertRaises(run.Failure):
            self.follow("```console\n$ printf 'one\\ntwo\\n'\none\n```\n")

    def test_a_status_other_than_0_fails_unless_it_is_shown(self):
        with self.assertRaises(run.Failure):
            self.follow("```console\n$ false\n```\n")
        self.assertEqual(self.follow("```console\n$ (exit 3)\n$ echo $?\n3\n```\n"), 2)

    def test_terminals_run_at_once_and_end(self):
        text = ("```console other\n$ echo ready; read line <pipe; echo got $line\n```\n"
                "```console\n$ echo word >pipe\n```\n```text other\ngot word\n```\n")
        text = "```console\n$ mkfifo pipe\n```\n" + text
        self.assertEqual(self.follow(text), 3)

    def test_swift_with_a_wrong_type_fails(self):
        with self.assertRaises(run.Failure):
            self.follow("```swift A.swift\nimport UserNotifications\nlet a: UNNotificationAction = 1\n```\n")

    def test_another_event_fails(self):
        payload = "```json a.json\n{\"aps\":{\"alert\":\"x\"}}\n```\n"
        self.follow(payload + "```json event-of=a.json\n{\"data\":{\"kind\":\"alert\"}}\n```\n")
        with self.assertRaises(run.Failure):
            self.follow(payload + "```json event-of=a.json\n{\"data\":{\"kind\":\"silent\"}}\n```\n")

    def test_a_block_without_an_end_fails(self):
        with self.assertRaises(ValueError):
            self.follow("```console\n$ true\n")

    def test_commands_continue(self):
        quoted = page.steps(page.blocks("```console\n$ echo 'a\nb'\nout\n```\n")[0])
        self.assertEqual((quoted[0].command, quoted[0].expected), ("echo 'a\nb'", ["out"]))
        steps = page.steps(page.blocks("```console\n$ one \\\n    two\nout\n$ cat <<END\n$ text\nEND\n```\n")[0])
        self.assertEqual([step.command for step in steps], ["one \\\n    two", "cat <<END\n$ text\nEND"])
        self.assertEqual(steps[0].expected, ["out"])


class Matching(unittest.TestCase):
    def test_identifiers_and_times_are_learned(self):
        matcher = Matcher()
        self.assertTrue(matcher.matches([f"id {ONE} at 2026-01-01T00:00:00Z …"], [f"id {TWO} at 2027-01-01T00:00:00.123Z x"]))
        self.assertEqual(matcher.substitute(f"show {ONE}"), f"show {TWO}")
        self.assertFalse(matcher.matches([ONE], ["01a203c4-a71d-7ae2-ac18-2d1895e60817"]))

    def test_omitted_lines(self):
        self.assertTrue(Matcher().matches(["a", "…", "d"], ["a", "b", "c", "d"]))
        self.assertFalse(Matcher().matches(["a", "…", "d"], ["a", "b", "c"]))
        self.assertFalse(Matcher().matches([], ["a"]))

    def test_lines_in_order(self):
        self.assertEqual(Matcher().after(["b", "d"], ["a", "b", "c", "d", "e"]), 4)
        self.assertIsNone(Matcher().after(["d", "b"], ["a", "b", "c", "d"]))

    def test_parts_of_events(self):
        whole = {"id": TWO, "data": {"kind": "alert", "list": [1]}}
        self.assertTrue(contains(whole, {"id": ONE, "data": {"kind": "alert"}}))
        self.assertFalse(contains(whole, {"data": {"kind": "silent"}}))
        self.assertFalse(contains(whole, {"data": {"list": []}}))


if __name__ == "__main__":
    unittest.main()
