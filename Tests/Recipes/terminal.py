"""Terminals of a reader: shells whose output is collected while commands run."""

import os
import pathlib
import signal
import subprocess
import threading
import time

END = "\x1e"
LIMIT = 8 << 20


class Terminal:
    """A shell in a directory. A command has no standard input but that of its own pipes and here-documents."""

    def __init__(self, name, directory, environment):
        self.name, self.read, self.scripts, self.status = name, 0, 0, 0
        self.output, self.changed = "", threading.Condition()
        self.directory = pathlib.Path(directory)
        self.shell = subprocess.Popen(
            ["/bin/bash", "--norc"], cwd=directory, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True)
        self.reader = threading.Thread(target=self.collect, daemon=True)
        self.reader.start()

    def collect(self):
        while chunk := os.read(self.shell.stdout.fileno(), 65536):
            with self.changed:
                self.output += chunk.decode(errors="replace")
                if len(self.output) > LIMIT:
                    self.output = self.output[:LIMIT]
                self.changed.notify_all()

    def begin(self, command):
        """Types a command when the one before it has ended, and forgets the output so far."""
        if self.scripts and not self.wait(lambda output: output.count(END) >= 2, 60):
            raise TimeoutError(f"a command in {self.name} has not ended; its output:\n{self.output}")
        self.scripts += 1
        script = self.directory / f".{self.name}-{self.scripts}.sh"
        script.write_text(command + "\n")
        with self.changed:
            self.output = ""
        self.shell.stdin.write(f"(exit {self.status}); . ./{script.name} </dev/null; printf '{END}%d{END}' $?\n".encode())
        self.shell.stdin.flush()

    def wait(self, condition, seconds):
        """Whether the output meets the condition within the time."""
        end = time.monotonic() + seconds
        with self.changed:
            while not condition(self.output):
                rest = end - time.monotonic()
                if rest <= 0:
                    return False
                self.changed.wait(rest)
        return True

    def run(self, command, seconds=60):
        """The lines and the status of a command that ends. Raises TimeoutError."""
        self.begin(command)
        if not self.wait(lambda output: output.count(END) >= 2, seconds):
            raise TimeoutError(f"no end after {seconds} s; output so far:\n{self.output}")
        text, status, _ = self.output.split(END, 2)
        self.status = int(status)
        return text.splitlines(), self.status

    def lines(self):
        """The complete lines since the last command."""
        return self.output.split(END)[0].split("\n")[:-1]

    def interrupt(self, seconds=30):
        """Sends ^C to the command, and waits for its end."""
        children = pathlib.Path(f"/proc/{self.shell.pid}/task/{self.shell.pid}/children").read_text().split()
        for child in children:
            os.kill(int(child), signal.SIGINT)
        if not self.wait(lambda output: output.count(END) >= 2, seconds):
            raise TimeoutError(f"the command in {self.name} does not end after ^C")

    def close(self):
        """Ends the shell and everything that it started."""
        try:
            os.killpg(self.shell.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass  # Everything has ended already.
        self.shell.wait()
        self.shell.stdin.close()
        self.reader.join(5)
        self.shell.stdout.close()
