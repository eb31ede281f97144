#!/usr/bin/env python3
"""Checks every reachable state of a small gateway.

The model has a few deliveries, an operator, a clock that makes deliveries due and expired, and a crash at every point.
After every step it checks the invariants. The search is breadth first, so a broken rule is printed with the shortest
sequence of steps.

    python3 docs/model/delivery.py                 check that every rule holds
    python3 docs/model/delivery.py --break RULE    leave one rule of the gateway out; the check must fail
    python3 docs/model/delivery.py --broken        leave out each rule in turn; each check must fail

`state`, `attempts`, `begun` and `forgiven` are columns of the table `deliveries`. `held` is the lease in memory, which a
crash clears. `sending` counts requests in progress. `counted` is the ledger's number of deliveries. `waits` is a row of
`media_waits`. `body` is the event that a release gives a delivery.
"""

import sys
from collections import namedtuple

import walk

DELIVERIES = 2
# Numbers are unbounded in the gateway. This bound is enough for every order of steps to occur.
MOST_BEGUN = 3
BUDGET = 2

Delivery = namedtuple("Delivery", "state due over begun attempts forgiven held sending log retries ended waits body")
World = namedtuple("World", "deliveries counted paused")

NEW = Delivery("waiting", True, False, 0, 0, 0, False, 0, (), 0, None, None, "old")
# Waits for files. It becomes due without a release a minute after its time.
WAITING = NEW._replace(due=False, waits="files")

BREAKABLE = {
    "lease-once": "a claim skips leased deliveries",
    "settle-final": "an ended delivery is not claimed again",
    "retry-only-dead": "an explicit retry skips delivered ones",
    "book": "an append updates the ledger in the same commit",
    "free-after-crash": "a new process starts without leases",
    "begin-first": "an attempt is recorded before it is made",
    "count-interrupted": "an attempt that a crash interrupted is counted",
    "pause": "a claim respects a paused destination",
    "expire-held": "a leased delivery ends with its attempt only",
    "forgive-made": "an attempt that is given back is not forgiven either",
    "hold": "a delivery that waits for files is not handed over in memory",
    "release-free": "a release skips deliveries that were begun or have ended",
    "retry-held": "an explicit retry skips deliveries that wait for files",
    "wait-in-file": "a wait for files is durable",
}
TERMINAL = {"delivered", "dead", "expired"}


def steps(world, broken):
    """Every step that can follow, with its name."""
    deliveries = world.deliveries
    if len(deliveries) < DELIVERIES:
        counted = world.counted + (0 if "book" in broken else 1)
        # Read from the file, or handed over in memory. In memory, the same commit begins its attempt.
        yield "append", world._replace(deliveries=deliveries + (NEW,), counted=counted)
        if not world.paused:
            fresh = NEW._replace(begun=0 if "begin-first" in broken else 1, held=True)
            yield "append and hand over", world._replace(deliveries=deliveries + (fresh,), counted=counted)
        # One is enough: a wait concerns its own delivery only.
        if not deliveries:
            waiting = WAITING._replace(begun=1, held=True) if "hold" in broken else WAITING
            yield "append and wait for files", world._replace(deliveries=deliveries + (waiting,), counted=counted)
    yield ("resume" if world.paused else "pause"), world._replace(paused=not world.paused)
    yield "crash", world._replace(
        deliveries=tuple(
            d._replace(
                held=d.held if "free-after-crash" in broken else False, sending=0,
                waits=None if "wait-in-file" in broken else d.waits)
            for d in deliveries))
    for place, delivery in enumerate(deliveries):
        for name, after in steps_of_one(delivery, world.paused, broken):
            changed = deliveries[:place] + (after,) + deliveries[place + 1 :]
            yield f"{name} {place + 1}", world._replace(deliveries=changed)


def steps_of_one(d, paused, broken):
    may_claim = d.state == "waiting" or ("settle-final" in broken and d.state in TERMINAL)
    is_free = not d.held or ("lease-once" in broken and d.sending < 2)
    takes = not paused or "pause" in broken
    if may_claim and is_free and takes and d.due and d.begun < MOST_BEGUN:
        found = interrupted(d, broken)
        if d.over:
            yield "expire on claim", end(found, "expired")
        else:
            begun = found.begun if "begin-first" in broken else found.attempts + 1
            yield "claim", found._replace(begun=begun, held=True, sending=d.sending + 1)
    # Handed over in memory: leased and begun, now sent.
    if d.held and d.sending == 0 and d.state == "waiting":
        if takes:
            yield "send what was handed over", d._replace(sending=1)
        yield "give back", given_back(d, broken)._replace(held=False)
    if d.sending:
        done = d._replace(sending=d.sending - 1, held=d.sending > 1)
        made = done._replace(attempts=d.begun, log=logged(d, "answered"))
        yield "settle delivered", end(made, "delivered")
        yield "settle dead", end(made, "dead")
        if d.begun - d.forgiven < BUDGET:
            yield "settle retry", made._replace(due=False)
        yield "settle postponed", given_back(done, broken)._replace(due=False)
        yield "settle returned", given_back(done, broken)
        if d.over:
            yield "settle expired", end(given_back(done, broken), "expired")
    if d.state == "waiting" and not d.due:
        # A delivery that waits for files becomes due a minute after its time without a release.
        yield "become due", d._replace(due=True, waits=d.waits and "in vain")
    if d.waits:
        is_free = d.state == "waiting" and d.begun == 0
        if is_free or "release-free" in broken:
            yield "release", d._replace(due=True, waits=None, body="new")
        else:
            yield "release a delivery that no longer waits", d._replace(waits=None)
    if d.state == "waiting" and not d.over:
        yield "become over", d._replace(over=True)
    if d.state == "waiting" and d.over and (not d.held or "expire-held" in broken):
        yield "expire at a tick", end(interrupted(d, broken), "expired")
    may_retry = {"waiting", "dead"} | ({"delivered"} if "retry-only-dead" in broken else set())
    is_left = d.waits and d.state == "waiting" and d.begun == 0 and "retry-held" not in broken
    if d.state in may_retry and d.retries < 1 and not is_left:
        yield "retry", d._replace(
            state="waiting", due=True, forgiven=d.begun, retries=d.retries + 1,
            ended=None if d.state == "dead" else d.ended)


def end(d, state):
    return d._replace(state=state, ended=d.ended or state)


def logged(d, word):
    return d.log + ((d.begun, word),)


def given_back(d, broken):
    forgiven = d.forgiven if "forgive-made" in broken else min(d.forgiven, d.attempts)
    return d._replace(begun=d.attempts, forgiven=forgiven)


def interrupted(d, broken):
    """Records an attempt that was begun without a lease: a previous process crashed during it."""
    if d.begun <= d.attempts or "count-interrupted" in broken or d.held:
        return d
    return d._replace(attempts=d.begun, log=logged(d, "interrupted"))


def faults(before, step, world):
    """The invariants that a step breaks."""
    if len(world.deliveries) != world.counted:
        yield "the ledger counts every accepted delivery"
    for old, d in zip(before.deliveries, world.deliveries):
        if old.state in TERMINAL and d.state != old.state and not (step.startswith("retry") and old.state == "dead"):
            yield "only an explicit retry of a dead delivery changes an ended one"
        if before.paused and d.sending > old.sending:
            yield "no attempt begins while the destination is paused"
        if step == "crash" and d.state == "waiting" and d.held:
            yield "after a crash every waiting delivery can be claimed"
        if d.sending > old.sending and old.waits == "files":
            yield "a delivery that waits for files is sent after its release or its time"
        if d.body != old.body and (old.begun or old.state != "waiting"):
            yield "the body of a begun or ended delivery does not change"
        if old.waits and not d.waits and old.state == "waiting" and not old.begun and d.body == old.body:
            yield "a wait ends with a release, unless the delivery was begun or has ended"
        if d.sending > old.sending and old.begun > old.attempts and not old.held and d.log == old.log:
            yield "an attempt that was begun and not given back is in the log before the next one begins"
    for d in world.deliveries:
        if d.sending > 1:
            yield "never two leases of one delivery"
        if d.sending and d.state != "waiting":
            yield "a delivery with a request in progress is in the state waiting"
        if d.ended is not None and d.state != d.ended:
            yield "a delivery has one end"
        if d.begun < d.attempts:
            yield "every counted attempt was begun"
        if d.sending and d.begun <= d.attempts:
            yield "an attempt is recorded before it is made"
        if d.forgiven > d.begun:
            yield "every forgiven attempt was begun"
        numbers = [number for number, _ in d.log]
        if numbers != list(range(1, len(numbers) + 1)):
            yield "attempts are numbered from 1, each once"


def model(broken):
    return walk.Model(World((), 0, False), lambda world: steps(world, broken), faults)


if __name__ == "__main__":
    sys.exit(walk.main(model, BREAKABLE, "delivery.py", sys.argv[1:]))
