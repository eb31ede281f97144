"""Facts of the recipes: a reader who installs the packages that their first page names can follow each of them."""

import re
import unittest

import page
import run

FOLDER = run.ROOT / "docs/guides/recipes"
# In every installation of Debian, or built into the shell.
PRESENT = {"base64", "cat", "cmp", "cut", "do", "done", "echo", "for", "grep", "gzip", "head", "ls", "mkdir", "rm",
           "sed", "sleep", "sort", "tail", "timeout", "wc", "zcat"}
# Programs whose package has another name.
PACKAGES = {"promtool": "prometheus"}
# The first word of a command: at the beginning of a line, and after an operator of the shell.
PROGRAM = re.compile(r"(?:^|\||&&|;|\()\s*([a-z][a-z0-9_-]*)(?=[\s;)|]|$)", re.MULTILINE)
# A row of the table of special programs: the recipe and the package.
ROW = re.compile(r"^\| \[[^]]+\]\(([^)]+)\) .* `([a-z0-9-]+)` \|$", re.MULTILINE)
# In texts between quotes, only substitutions are commands.
QUOTED = re.compile(r"'[^']*'|\"[^\"$]*\"")


def programs(text):
    """The programs that a page's commands start."""
    commands = [step.command.replace("\\\n", " ") for block in page.blocks(text) if block.language == "console"
                for step in page.steps(block) if step.command]
    return {name for command in commands for name in PROGRAM.findall(QUOTED.sub("''", command))}


class Recipes(unittest.TestCase):
    def test_their_first_page_names_the_packages_of_all_programs(self):
        introduction = (FOLDER / "README.md").read_text().split("\n| job |")[0]
        named = set(re.findall(r"`([a-z0-9-]+)`", introduction))
        rows = dict(ROW.findall(introduction))
        common = named - set(rows.values())
        for path in sorted(FOLDER.glob("*.md")):
            missing = programs(path.read_text()) - PRESENT - common - {"signalbox"}
            special = {rows[path.name]} if path.name in rows else set()
            self.assertEqual({PACKAGES.get(name, name) for name in missing}, special, path.name)

    def test_programs_are_found(self):
        text = "```console\n$ a | b -c 'd | e' \\\n    && echo \"$(f g)\"; h\n$ (i; j) | k\n```\n"
        self.assertEqual(programs(text), {"a", "b", "echo", "f", "h", "i", "j", "k"})
