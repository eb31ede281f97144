"""Reads the fenced blocks of a page of documentation.

The first word after the fence is the language, as readers see it. The second word says what the test does:

    ```json routes.json       saves the block as this file, next to the commands
    ```console                types each line that begins with `$ `, and compares the output that follows it
    ```console gateway        the same in a terminal of its own, whose command may keep running; `^C` stops it
    ```text gateway           waits until that terminal prints these lines
    ```json event-of=FILE     compares with the event of the payload in FILE: each member must be in it

Blocks of other languages without a second word, such as `sh`, are not executed.
"""

import dataclasses
import re

FENCE = re.compile(r"^(\s*)```(\S*)\s*(\S*)\s*$")


@dataclasses.dataclass
class Block:
    """A fenced block. `word` is the second word after the fence, or empty."""

    language: str
    word: str
    text: str
    line: int


@dataclasses.dataclass
class Step:
    """A command with the output that the page shows for it. `command` is None for output alone, `^C` for an end."""

    command: str | None
    expected: list
    line: int


def blocks(text):
    """The blocks of a page, in order. Raises ValueError for a block without an end."""
    found, current = [], None
    for number, line in enumerate(text.split("\n"), 1):
        fence = FENCE.match(line)
        if current is None:
            if fence:
                current = Block(fence[2], fence[3], "", number + 1)
        elif fence and not fence[2]:
            found.append(current)
            current = None
        else:
            current.text += line + "\n"
    if current is not None:
        raise ValueError(f"line {current.line - 1}: the block has no end")
    return found


def steps(block):
    """The commands of a `console` block. A command continues after a `\\`, and until a quote or a here-document ends."""
    found, lines = [], block.text.split("\n")[:-1]
    at = 0
    while at < len(lines):
        line, number = lines[at], block.line + at
        at += 1
        if line == "^C":
            found.append(Step("^C", [], number))
        elif line.startswith("$ "):
            command = line[2:]
            mark = re.search(r"<<-?\s*'?(\w+)'?", command)
            while at < len(lines) and (
                    command.endswith("\\") or command.count("'") % 2 or (mark and lines[at - 1] != mark[1])):
                command += "\n" + lines[at]
                at += 1
            found.append(Step(command, [], number))
        elif found:
            found[-1].expected.append(line)
        else:
            found.append(Step(None, [line], number))
    return found
