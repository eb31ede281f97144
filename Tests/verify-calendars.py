#!/usr/bin/env python3
"""Reads recorded calendar files as a calendar would, with the library icalendar.

usage: verify-calendars.py CALENDARS

CALENDARS is NDJSON: {"name", "file" (base64), "expected"}, where "expected" holds "uid", "start", "summary" and perhaps
"end", "notes", "zone" and "endZone". Dates must be the expected instants twice: by the zone's name, as the library knows
zones, and by the file's own VTIMEZONE, under a name that no library knows. Every failure is printed; the exit status is 1 when
there was one, or when there were no files.
"""

import base64
import json
import re
import sys
from datetime import datetime

from icalendar import Calendar


def check_lines(file):
    assert file.endswith(b"\r\n") and b"\n" not in file.replace(b"\r\n", b""), "a line does not end with CRLF"
    for line in file.split(b"\r\n"):
        assert len(line) <= 75, f"a line has {len(line)} octets"
        line.decode()  # no character is cut in two


def check_time(event, key, expected, zone):
    if expected is None:
        assert key not in event, f"there is a {key}"
        return
    found = event.decoded(key)
    assert found.tzinfo is not None, f"{key} floats"
    wanted = datetime.fromisoformat(expected.replace("Z", "+00:00"))
    # Python never finds a time of an hour that comes twice equal to one of another zone (PEP 495).
    assert found.timestamp() == wanted.timestamp(), f"{key} is {found.isoformat()}, not {expected}"
    name = event[key].params.get("TZID")
    if zone == "UTC":
        assert name is None, f"{key} has the zone {name}"
    elif zone is not None and name is not None:
        assert name == zone, f"{key} has the zone {name}"


def check_event(file, expected, by_name):
    calendar = Calendar.from_ical(file)
    assert not calendar.errors, calendar.errors
    [event] = calendar.walk("VEVENT")
    assert not event.errors, event.errors
    zone = expected.get("zone") if by_name else None
    check_time(event, "DTSTART", expected["start"], zone)
    check_time(event, "DTEND", expected.get("end"), expected.get("endZone", zone) if by_name else None)
    assert str(event["SUMMARY"]) == expected["summary"], event["SUMMARY"]
    assert str(event.get("DESCRIPTION", "")) == expected.get("notes", ""), event.get("DESCRIPTION")
    assert str(event["UID"]) == expected["uid"], event["UID"]
    assert event.decoded("DTSTAMP").utcoffset().total_seconds() == 0, "DTSTAMP is not in UTC"
    used = {name for name in re.findall(rb";TZID=([^:]+):", file)}
    defined = {str(zone["TZID"]).encode() for zone in calendar.walk("VTIMEZONE")}
    assert used == defined, f"{used} are used, {defined} defined"


def check(record, number):
    file, expected = base64.b64decode(record["file"]), record["expected"]
    check_lines(file)
    check_event(file, expected, by_name=True)
    unknown = re.sub(rb"TZID([=:])", rb"TZID\g<1>X%d-" % number, file)
    check_event(unknown, expected, by_name=False)


def main(path):
    count = failed = zoned = 0
    with open(path, encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            record = json.loads(line)
            count += 1
            zoned += b"TZID=" in base64.b64decode(record["file"])
            try:
                check(record, number)
            except Exception as error:  # any error of the library is a failure of the file
                failed += 1
                print(f"{path}:{number}: {record['name']}: {type(error).__name__}: {error}")
    print(f"{count} calendar files, {zoned} with a time zone, {failed} unreadable", file=sys.stderr)
    return 1 if failed or not zoned else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    sys.exit(main(sys.argv[1]))
