#!/usr/bin/env python3
"""Follows pages of documentation as a reader does: saves their files, types their commands, compares the output.

usage: run.py PAGE...

Each page has a new directory. A page that names Examples/ has them and routes.json, as the archive does. The pages run
one after the other in a network namespace of their own, if the system permits that, so their ports are free.
SIGNALBOX_BINARY names another binary than .build/debug/signalbox. The exit status is 1 if a page does not hold.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import page
from matching import Matcher, contains
from terminal import Terminal

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BINARY = pathlib.Path(os.environ.get("SIGNALBOX_BINARY", ROOT / ".build/debug/signalbox")).resolve()
STUBS = pathlib.Path(__file__).resolve().parent / "stubs"
SECONDS = 30
# Commands that change nothing are repeated until the output is as shown, because deliveries take their time.
READING = re.compile(
    r"(cat|grep|jq|wc|tail|ls|diff) |signalbox (events|audit|vendors|health|media list|(deliveries|destinations) (list|show))\b"
    r"|curl (?!.*(-X|-d|--data|--json|-F|-T|--upload)\b)")


class Failure(Exception):
    """A page does not hold, with the reason."""


class Session:
    """One page, its directory, and the terminals that it opened."""

    def __init__(self, path, directory):
        self.path, self.directory, self.matcher, self.terminals = path, pathlib.Path(directory), Matcher(), {}
        if "Examples/" in path.read_text():
            (self.directory / "Examples").symlink_to(ROOT / "Examples")
            shutil.copy(ROOT / "routes.json", self.directory)
        tools = self.directory / ".bin"
        tools.mkdir()
        (tools / "signalbox").symlink_to(BINARY)
        self.environment = {
            "PATH": f"{tools}:{ROOT / '.build/test-tools'}:{ROOT / '.build/test-venv/bin'}:{os.environ['PATH']}",
            "HOME": str(self.directory), "LANG": "C.UTF-8", "TZ": "UTC", "NO_COLOR": "1",
        }

    def terminal(self, name):
        if name not in self.terminals:
            self.terminals[name] = Terminal(name or "main", self.directory, self.environment)
        return self.terminals[name]

    def follow(self):
        """Does what the page says; returns the number of commands. Raises Failure."""
        count = 0
        for block in page.blocks(self.path.read_text()):
            if block.language == "console":
                for step, following in pairs(page.steps(block)):
                    count += 1
                    self.type(step, following, block.word)
            elif block.language == "text" and block.word:
                self.await_lines(self.terminal(block.word), block.text.splitlines(), block.line)
            elif block.word.startswith("event-of="):
                self.compare_event(block)
            elif block.word:
                self.save(block)
        return count

    def save(self, block):
        file = self.directory / block.word
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(self.matcher.substitute(block.text))
        if block.language == "swift":
            self.compile(block, file)

    def compile(self, block, file):
        """Checks the types of Swift code, with declarations of Apple's frameworks that Linux does not have."""
        stubs = sorted(STUBS.glob("*.swift")) if STUBS.is_dir() else []
        modules = self.directory / ".modules"
        for stub in stubs if not modules.is_dir() else []:
            modules.mkdir(exist_ok=True)
            self.check_call(block, [
                "swiftc", "-emit-module", "-parse-as-library", "-module-name", stub.stem, str(stub),
                "-emit-module-path", str(modules / f"{stub.stem}.swiftmodule")])
        # On Linux, requests over HTTP are in a module of their own.
        copy = self.directory / f".linux-{file.name}"
        copy.write_text("import FoundationNetworking\n" + file.read_text())
        self.check_call(block, [
            "swiftc", "-typecheck", "-parse-as-library", "-warnings-as-errors", "-I", str(modules), str(copy)])

    def check_call(self, block, command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise Failure(f"line {block.line}: {' '.join(command)}\n{done.stdout}{done.stderr}")

    def compare_event(self, block):
        payload = self.directory / block.word.split("=", 1)[1]
        output = subprocess.run(
            [BINARY, "normalize", payload], cwd=self.directory, capture_output=True, text=True, check=True).stdout
        if not contains(json.loads(output), json.loads(block.text)):
            raise Failure(f"line {block.line}: the event of {payload.name} is\n{output}")

    def type(self, step, following, name):
        terminal = self.terminal(name)
        if step.command == "^C":
            terminal.interrupt()
            return
        if step.command is None:
            raise Failure(f"line {step.line}: output without a command")
        command = self.matcher.substitute(step.command)
        if name:
            terminal.begin(command)
            terminal.read = 0
            self.await_lines(terminal, step.expected, step.line)
            return
        end = time.monotonic() + (SECONDS if READING.match(command) else 0)
        while True:
            lines, status = terminal.run(command)
            shown = not step.expected or self.matcher.matches(step.expected, lines)
            fine = status == 0 or (following is not None and following.command == "echo $?")
            if shown and fine:
                return
            if time.monotonic() >= end:
                raise Failure(
                    f"line {step.line}: $ {command}\nstatus {status}, output:\n" + "\n".join(lines)
                    + "\nexpected:\n" + "\n".join(step.expected))
            time.sleep(0.2)

    def await_lines(self, terminal, expected, line):
        """Waits for lines of a terminal after those that were awaited before."""
        found = []

        def has_all(_):
            nonlocal found
            after = self.matcher.after(expected, terminal.lines()[terminal.read:])
            found = [] if after is None else [after]
            return after is not None

        if not terminal.wait(has_all, SECONDS):
            raise Failure(
                f"line {line}: the terminal {terminal.name} printed\n" + "\n".join(terminal.lines())
                + "\nexpected:\n" + "\n".join(expected))
        terminal.read += found[0]

    def close(self):
        for terminal in self.terminals.values():
            terminal.close()


def pairs(steps):
    return zip(steps, steps[1:] + [None])


def isolate():
    """Starts this program again in a network namespace, as a user without privileges there, if possible."""
    outer = ["unshare", "--user", "--map-root-user", "--net"]
    inner = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]
    command = [*outer, "sh", "-c", 'ip link set lo up && exec "$@"', "sh", *inner]
    if os.environ.get("SIGNALBOX_ISOLATED") or subprocess.run([*command, "true"], capture_output=True).returncode:
        return
    os.environ["SIGNALBOX_ISOLATED"] = "1"
    os.execvp("unshare", [*command, sys.executable, *sys.argv])


def main(pages):
    isolate()
    failed = 0
    for path in map(pathlib.Path, pages):
        begun = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="signalbox-page-") as directory:
            session = Session(path, directory)
            try:
                count = session.follow()
                print(f"{path}: {count} commands, {time.monotonic() - begun:.1f} s", flush=True)
            except (Failure, TimeoutError, ValueError, OSError, subprocess.SubprocessError) as error:
                failed += 1
                print(f"{path}: {error}", flush=True)
            finally:
                session.close()
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__.strip())
    sys.exit(main(sys.argv[1:]))
