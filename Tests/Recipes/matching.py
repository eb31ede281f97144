"""Compares the output that a page shows with the output of the command.

On a page, `…` stands for any text within a line, and a line of only `…` for any lines. Times match any
time. An identifier of an event matches any other one; later commands of the page then use the actual one. The width
of the space between columns does not count.
"""

import re

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"
TOKEN = re.compile(rf"(?P<uuid>{UUID})|(?P<time>{TIME})|(?P<any>…)|(?P<space>\s+)")


class Matcher:
    """The identifiers of one page: those that it shows, and those that the commands printed instead."""

    def __init__(self):
        self.actual = {}

    def substitute(self, text):
        """The text with actual identifiers instead of those that the page shows."""
        return re.sub(UUID, lambda found: self.actual.get(found[0], found[0]), text)

    def line(self, expected):
        """A pattern for one line, and the identifiers of its groups that are not known yet."""
        pattern, names, at = "", [], 0
        for token in TOKEN.finditer(expected):
            pattern += re.escape(expected[at:token.start()])
            at = token.end()
            if token["uuid"]:
                known = self.actual.get(token["uuid"])
                if known:
                    pattern += re.escape(known)
                elif token["uuid"] in names:
                    pattern += rf"(?P=u{names.index(token['uuid'])})"
                else:
                    pattern += f"(?P<u{len(names)}>{UUID})"
                    names.append(token["uuid"])
            else:
                pattern += TIME if token["time"] else ".*?" if token["any"] else r"\s+"
        return pattern + re.escape(expected[at:]) + r"\s*", names

    def matches_line(self, expected, actual):
        """Whether one line has this form. Learns its identifiers."""
        pattern, names = self.line(expected)
        found = re.fullmatch(pattern, actual)
        if found:
            self.actual |= {name: found[f"u{number}"] for number, name in enumerate(names)}
        return found is not None

    def matches(self, expected, actual):
        """Whether these lines, and no others, are the output. Learns identifiers of the lines that match."""
        if not expected:
            return not actual
        if expected[0].strip() == "…":
            return any(self.matches(expected[1:], actual[skipped:]) for skipped in range(len(actual) + 1))
        return bool(actual) and self.matches_line(expected[0], actual[0]) and self.matches(expected[1:], actual[1:])

    def after(self, expected, actual):
        """The number of lines up to the last of these, which occur in this order, perhaps with others between them.
        None if one is missing."""
        at = 0
        for line in expected:
            if line.strip() == "…":
                continue
            while at < len(actual) and not self.matches_line(line, actual[at]):
                at += 1
            if at == len(actual):
                return None
            at += 1
        return at


def contains(whole, part):
    """Whether each member of `part` is in `whole`. Identifiers and times may differ."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and contains(whole[key], value) for key, value in part.items())
    if isinstance(part, list):
        return isinstance(whole, list) and len(whole) == len(part) and all(map(contains, whole, part))
    if isinstance(part, str) and isinstance(whole, str):
        return any(re.fullmatch(form, part) and re.fullmatch(form, whole) for form in (UUID, TIME)) or whole == part
    return whole == part
