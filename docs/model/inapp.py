#!/usr/bin/env python3
"""Checks every reachable state of in-app offers on two devices of one user.

The phone is triggered with two messages, the tablet with one; each may be delayed, offered, shown, put off, lost or
ended. The clock is three facts that may become true at any step: a delay ends, a message lapses, a lease ends. The
user's scope has a limit of two displays. After every step the model checks the invariants, and that each lease and
display ends without any report. The search is breadth first, so a broken rule is printed with the shortest sequence of
steps.

    python3 docs/model/inapp.py                 check that every rule holds
    python3 docs/model/inapp.py --break RULE    leave one rule of the engine out; the check must fail
    python3 docs/model/inapp.py --broken        leave out each rule in turn; each check must fail

The states are those of `Offer.State`: T triggered, W waiting, R ready, O offered, S shown, D done, X discarded, E
expired, H held. `committed` and `reserved` are the numbers that the limit compares, `logged` counts recorded
impressions, `controls` held messages, and `over` impressions after a lease: the user has seen them, so no limit can
prevent them.
"""

import sys
from collections import namedtuple

import walk

LIMIT = 2
# Two on the phone, to compete for its screen; one on the tablet, to compete for the limit.
OFFERS = (2, 1)

Offer = namedtuple("Offer", "message state due lapsed unanswered counted late told why leases")
Device = namedtuple("Device", "offers foreground")
World = namedtuple("World", "devices committed reserved logged controls over")

NEW = Offer("a", "T", False, False, 0, False, False, False, None, 0)
LIVE = {"T", "W", "R", "O", "S"}
ENDED = {"D", "X", "E", "H"}

BREAKABLE = {
    "reserve": "an offer reserves its place in the limit",
    "lease-screen": "one message at a time is offered or shown on a device",
    "release-refused": "a refusal releases the reservation",
    "release-lease": "the end of a lease releases the reservation",
    "lease-end": "a lease ends without a report",
    "silence": "a shown message ends after silence",
    "commit-once": "a repeated report of an impression counts once",
    "late-counts": "an impression after the lease counts",
    "ended-final": "an ended offer does not change",
    "lapse": "a message that has lapsed is not shown",
    "once-more": "an unanswered offer is offered once more, not without an end",
    "background": "a message is not offered in the background",
    "control-takes-turn": "a held message counts like a shown one",
    "delay": "a message is not offered before its delay ends",
    "one-pending": "a repeated trigger keeps the pending offer",
    "conflict": "a refusal of a shown message is a conflict",
    "check-limit": "a message from the stack is checked again",
}


def steps(world, broken):
    """Every step that may come next, by name."""
    for place, device in enumerate(world.devices):
        name = "phone tablet".split()[place]
        for step, after, change in steps_of(device, OFFERS[place], world, broken):
            devices = world.devices[:place] + (after,) + world.devices[place + 1 :]
            yield f"{step} ({name})", change(world._replace(devices=devices))


def same(world):
    return world


def adding(**fields):
    """A change of the counters of the world."""
    return lambda world: world._replace(**{key: getattr(world, key) + value for key, value in fields.items()})


def steps_of(device, most, world, broken):
    for message in "ab"[:most]:
        is_pending = any(o.message == message and o.state in LIVE for o in device.offers)
        if len(device.offers) < most and (not is_pending or "one-pending" in broken):
            new = NEW._replace(message=message)
            yield f"trigger {message} with a delay", device._replace(offers=device.offers + (new,)), same
            ready = new._replace(state="R", due=True)
            yield f"trigger {message}", device._replace(offers=device.offers + (ready,)), same
    yield "change of the foreground", device._replace(foreground=not device.foreground), same
    for index, offer in enumerate(device.offers):
        for step, after, change in steps_of_offer(offer, device, world, broken):
            offers = device.offers[:index] + (after,) + device.offers[index + 1 :]
            yield f"{step} {index + 1}", device._replace(offers=offers), change


def steps_of_offer(o, device, world, broken):
    yield from time_steps(o, broken)
    yield from show_steps(o, device, world, broken)
    yield from report_steps(o, device, broken)
    if o.state in {"T", "W", "R"}:
        yield "withdraw", end(o, "X", "withdrawn"), same


def time_steps(o, broken):
    if o.state == "T" and not o.due:
        yield "delay ends", o._replace(due=True), same
    if o.state in LIVE - {"S"} and not o.lapsed:
        yield "time for the message ends", o._replace(lapsed=True), same
    if o.state == "T" and o.due:
        yield "become ready", o._replace(state="R"), same
        yield "become ready in the background", o._replace(state="W"), same
    if o.state in {"T", "W", "R"} and o.lapsed:
        yield "expire", end(o, "E", "lapsed"), same
    if o.state == "O" and "lease-end" not in broken:
        kept = 0 if "release-lease" in broken else -1
        if o.unanswered >= 1 and "once-more" not in broken:
            yield "lease ends", end(o, "X", "no-answer"), adding(reserved=kept)
        else:
            yield "lease ends", o._replace(state="W", unanswered=1), adding(reserved=kept)
    if o.state == "S" and "silence" not in broken:
        yield "silence", end(o, "D", "interrupted"), same


def show_steps(o, device, world, broken):
    holders = [x for x in device.offers if x.state in {"O", "S"}]
    is_due = o.state in {"W", "R"} or (o.state == "T" and "delay" in broken)
    is_free = not holders or "lease-screen" in broken
    is_visible = device.foreground or "background" in broken
    has_place = world.committed + world.reserved < LIMIT or ("check-limit" in broken and o.state == "W")
    if is_due and is_free and is_visible and has_place and (not o.lapsed or "lapse" in broken) and o.leases < 3:
        reserved = 0 if "reserve" in broken else 1
        yield "offer", o._replace(state="O", leases=o.leases + 1), adding(reserved=reserved)
        # The control group: membership is fixed, but the model tries both.
        committed = 0 if "control-takes-turn" in broken else 1
        held = end(o._replace(counted=bool(committed)), "H", "control")
        yield "hold back", held, adding(committed=committed, controls=1)


def report_steps(o, device, broken):
    unreserved = 0 if "reserve" in broken else -1
    if o.state == "O":
        shown = o._replace(state="S", counted=True, unanswered=0, told=True, why=None, due=True, lapsed=False, leases=0)
        yield "report shown", shown, adding(committed=1, logged=1, reserved=unreserved)
        refused = 0 if "release-refused" in broken or "reserve" in broken else -1
        yield "report discard", end(o, "X", "discard"), adding(reserved=refused)
        yield "report later", o._replace(state="W", unanswered=0, leases=0), adding(reserved=refused)
    if o.told:
        if "commit-once" in broken and o.state == "S" and not o.late:
            yield "report shown again", o._replace(late=True), adding(committed=1, logged=1)
        yield "report shown again", o, same
        if o.state == "S" and "conflict" in broken:
            yield "report discard of a shown message", end(o, "X", "discard"), same
    if o.state == "S":
        yield "report dismissed", end(o, "D", "dismissed"), same
    # The client held the offer and showed it, but its report comes after the lease.
    lost = o.unanswered == 1 and o.state in {"W", "X", "E"} and not o.counted
    if lost:
        holders = [x for x in device.offers if x.state in {"O", "S"}]
        late = o._replace(late=True, counted="late-counts" not in broken, told=True, unanswered=0)
        takes_screen = o.state == "W" and not holders
        shown = late._replace(state="S", due=True, lapsed=False, leases=0)
        after = shown if takes_screen else end(late, "D", "late")
        counted = {} if "late-counts" in broken else {"committed": 1, "logged": 1, "over": 1}
        yield "report shown after the lease", after, adding(**counted)
    if o.state in ENDED and "ended-final" in broken and o.state != "H":
        yield "show an ended offer", o._replace(state="S", told=True), adding(committed=1, logged=1)


def end(o, state, why):
    """An ended offer forgets everything that no later report depends on."""
    unanswered = o.unanswered if why in {"no-answer", "lapsed", "withdrawn"} else 0
    return o._replace(
        state=state, why=why if unanswered else None, due=True, lapsed=False, leases=0, unanswered=unanswered)


def faults(before, step, world):
    """The invariants that a step breaks."""
    for old, device in zip(before.devices, world.devices):
        if sum(o.state in {"O", "S"} for o in device.offers) > 1:
            yield "at most one message is offered or shown on a screen"
        pending = [o.message for o in device.offers if o.state in LIVE and not o.late]
        if len(pending) != len(set(pending)):
            yield "a message has one pending offer on a device"
        for was, o in zip(old.offers, device.offers):
            yield from faults_of(was, o, device, step)
    offered = sum(o.state == "O" for d in world.devices for o in d.offers)
    counted = sum(o.counted for d in world.devices for o in d.offers)
    if world.reserved != offered:
        yield "the limit has one reservation for each offered message"
    if world.committed != counted:
        yield "the limit has one commit for each message that was seen or held back"
    # A late impression is a fact that no limit can take back; every other display was granted a place.
    if world.committed + offered - world.over > LIMIT:
        yield "no limit is exceeded"
    if world.logged + world.controls != counted:
        yield "each impression is recorded once"


def faults_of(was, o, device, step):
    if was.state in ENDED and o.state != was.state and "after the lease" not in step:
        yield "an ended offer does not change"
    if was.state != "O" and o.state == "O":
        if not device.foreground:
            yield "no message is offered in the background"
        if was.lapsed:
            yield "no message is offered after its time"
        if not was.due:
            yield "no message is offered before its delay ends"
        if o.leases > 2:
            yield "an unanswered message is offered twice at most"
    if o.told and not o.counted:
        yield "every reported impression counts"
    if o.state == "X" and was.state == "S":
        yield "a shown message ends as done"


def model(broken):
    start = World((Device((), True), Device((), True)), 0, 0, 0, 0, 0)
    return walk.Model(start, lambda world: steps(world, broken), faults, endless)


def endless(world, steps):
    """A lease or a display that only a report can end."""
    stuck = {(p, i) for p, d in enumerate(world.devices) for i, o in enumerate(d.offers) if o.state in {"O", "S"}}
    for step, after in steps:
        if "report" not in step:
            stuck = {(p, i) for p, i in stuck if state_of(after, p, i) == state_of(world, p, i)}
    return "a lease and a display end without any report" if stuck else None


def state_of(world, device, offer):
    return world.devices[device].offers[offer].state


if __name__ == "__main__":
    sys.exit(walk.main(model, BREAKABLE, "inapp.py", sys.argv[1:]))
