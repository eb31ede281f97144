#!/usr/bin/env python3
"""Checks every reachable state of two gateways on one PostgreSQL database.

The model has two nodes, two deliveries with one order key or one without, transactions that end at any time with or
without an answer, crashes, and heartbeats that do not come. A stopped node is a node without steps for a while, which
the search covers like every other order of steps. After every step it checks the invariants. The search is breadth
first, so a broken rule is printed with the shortest sequence of steps.

    python3 docs/model/nodes.py                 check that every rule holds
    python3 docs/model/nodes.py --break RULE    leave one rule out; the check must fail
    python3 docs/model/nodes.py --broken        leave out each rule in turn; each check must fail

`Row` is a row of `queue`, or of `ended` once its state is not `waiting`. `Incarnation` is a row of `nodes` with its
`marks`: its heartbeat is `fresh`, `old` (the node begins nothing) or `over` (others may declare it gone). `Node` is the
memory of a process: its incarnation, the leases it holds, the leases it returns without an attempt, and those with a
request on the wire. `Lease` is a delivery with the numbers of the lease and of its attempt. A lease that is returned
counts no attempt, so the next one has the same attempt. `Transaction` runs on the server; the node does not know its
outcome until the answer comes. It repeats a return until it has an answer, and may lease the delivery again meanwhile.
"""

import sys
from collections import namedtuple

import walk

NODES = 2
# Numbers are unbounded in the gateway. These bounds are enough for every order of steps to occur.
MOST_BEGUN = 2
MOST_LEASES = 3
MOST_RETURNS = 1
INCARNATIONS = 3

Row = namedtuple("Row", "state holder lease begun attempts")
Incarnation = namedtuple("Incarnation", "beat is_gone")
Lease = namedtuple("Lease", "place number attempt")
Node = namedtuple("Node", "incarnation held returned wire transaction")
Transaction = namedtuple("Transaction", "kind lease incarnation phase")
# Deliveries without order do not depend on each other.
ROWS = {True: 2, False: 1}

World = namedtuple("World", "is_ordered rows incarnations nodes accepted returns")

BREAKABLE = {
    "marks": "a transaction of a node that was declared gone does not commit",
    "fence-holder": "a settlement names the node that holds the lease",
    "gone-over": "a node is declared gone when its heartbeat is over, not before",
    "take-over": "leases of a node that is declared gone become free",
    "begin-fresh": "a node whose heartbeat is old begins nothing",
    "forget": "a new incarnation forgets the leases of the one before",
    "lease-first": "an attempt begins once its lease is durable",
    "mark-decides": "the mark says how a transaction without an answer ended",
    "lock": "two claims do not lease the same row",
    "hand-over": "a delivery with an order key is not handed over in memory",
    "line": "a claim skips a key of which an earlier delivery is held",
    "begun": "each attempt of a delivery has its own number",
    "lease-number": "a lease number is never given again",
}

FIRST = World(
    None, (), (Incarnation("fresh", False),) * NODES, tuple(Node(n, (), (), (), None) for n in range(NODES)), 0, 0)


def replaced(items, place, item):
    return items[:place] + (item,) + items[place + 1 :]


def added(items, item):
    return tuple(sorted(set(items) | {item}))


def without(items, item):
    return tuple(other for other in items if other != item)


def steps(world, broken):
    """Every step that can follow, with its name."""
    if world.is_ordered is None:
        yield "an ordered destination", world._replace(is_ordered=True)
        yield "a destination without order", world._replace(is_ordered=False)
        return
    for number, incarnation in enumerate(world.incarnations):
        if incarnation.beat != "over" and not incarnation.is_gone:
            later = "old" if incarnation.beat == "fresh" else "over"
            yield f"time passes for {number}", with_incarnation(world, number, incarnation._replace(beat=later))
        if not incarnation.is_gone and (incarnation.beat == "over" or "gone-over" in broken):
            # The closing of its marks waits for a transaction that has written them.
            if "marks" in broken or not any(is_open(node.transaction, number) for node in world.nodes):
                yield f"declare {number} gone", declared_gone(world, number, broken)
    for place, node in enumerate(world.nodes):
        for name, after in steps_of_node(world, place, node, broken):
            yield f"{name} on {place}", after


def is_open(transaction, incarnation):
    return transaction and transaction.phase == "open" and transaction.incarnation == incarnation


def with_incarnation(world, number, incarnation):
    return world._replace(incarnations=replaced(world.incarnations, number, incarnation))


def declared_gone(world, number, broken):
    gone = with_incarnation(world, number, world.incarnations[number]._replace(is_gone=True))
    if "take-over" in broken:
        return gone
    return gone._replace(rows=tuple(r._replace(holder=None) if r.holder == number else r for r in gone.rows))


def steps_of_node(world, place, node, broken):
    def with_node(changed, base=world):
        return base._replace(nodes=replaced(base.nodes, place, changed))

    mine = world.incarnations[node.incarnation]
    if len(world.incarnations) < INCARNATIONS:
        # A new process, or a heartbeat that finds its incarnation gone.
        next_one = world._replace(incarnations=world.incarnations + (Incarnation("fresh", False),))
        fresh = Node(len(world.incarnations), (), (), (), None)
        yield "crash and start", with_node(fresh, next_one)
        if mine.is_gone and node.transaction is None:
            kept = node.held if "forget" in broken else ()
            again = node._replace(incarnation=fresh.incarnation, held=kept, returned=())
            yield "new incarnation", with_node(again, next_one)
    if not mine.is_gone and mine.beat != "fresh":
        yield "heartbeat", with_incarnation(world, node.incarnation, mine._replace(beat="fresh"))
    if node.transaction:
        yield from steps_of_transaction(world, node, node.transaction, with_node, broken)
        return
    may_begin = mine.beat == "fresh" or "begin-fresh" in broken
    for lease in node.held:
        if lease not in node.wire and may_begin:
            yield f"send {lease.place}", with_node(node._replace(wire=added(node.wire, lease)))
    # A transaction writes its mark first.
    if mine.is_gone and "marks" not in broken:
        return
    appending = sum(1 for other in world.nodes if other.transaction and other.transaction.kind == "append")
    if world.accepted + appending < ROWS[world.is_ordered]:
        yield "append", with_node(began(node, "append", Lease(None, 1, 1)))
    for place_of_row in range(len(world.rows)):
        if can_claim(world, place_of_row, broken):
            yield f"claim {place_of_row}", with_node(claiming(node, world.rows[place_of_row], place_of_row, broken))
    for lease in node.wire:
        left = without(node.wire, lease)
        for kind in ("delivered", "retry"):
            yield f"answer {kind} for {lease.place}", with_node(began(node, kind, lease)._replace(wire=left))
    yield from returns(world, node, with_node)


def returns(world, node, with_node):
    """Leases whose attempt is not made. The node forgets such a lease once it knows that the return was committed."""
    for lease in node.returned:
        yield f"return {lease.place} again", with_node(began(node, "return", lease))
    # One return of one delivery is enough for every rule. Those of two deliveries would be ten times as many states.
    if world.is_ordered or world.returns == MOST_RETURNS:
        return
    after = world._replace(returns=world.returns + 1)
    for lease in node.held:
        if lease not in node.wire:
            returning = node._replace(held=without(node.held, lease), returned=(lease,))
            yield f"return {lease.place}", with_node(began(returning, "return", lease), after)


def claiming(node, row, place, broken):
    lease = Lease(place, row.lease + 1, 1 if "begun" in broken else row.begun + 1)
    claim = began(node, "claim", lease)
    return claim._replace(wire=added(claim.wire, lease)) if "lease-first" in broken else claim


def began(node, kind, lease):
    return node._replace(transaction=Transaction(kind, lease, node.incarnation, "open"))


def can_claim(world, place, broken):
    row = world.rows[place]
    if row.state != "waiting" or row.holder is not None or row.begun >= MOST_BEGUN or row.lease >= MOST_LEASES:
        return False
    # A claim of an ordered destination locks the destination.
    others = [node.transaction for node in world.nodes if node.transaction and node.transaction.phase == "open"]
    if any(other.kind == "claim" for other in others) and "lock" not in broken:
        return False
    if not world.is_ordered:
        return True
    before = [r for r in world.rows[:place] if r.state == "waiting"]
    return not (any(r.holder is None for r in before) if "line" in broken else before)


def steps_of_transaction(world, node, transaction, with_node, broken):
    if transaction.phase == "open":
        yield "roll back", with_node(node._replace(transaction=None))
        lease = transaction.lease
        if transaction.kind.startswith("append"):
            lease = lease._replace(place=len(world.rows))
        done = node._replace(transaction=transaction._replace(phase="committed", lease=lease))
        yield "commit", with_node(done, committed(world, transaction, broken))
        return
    yield "commit is known", with_node(known(node, transaction, not world.is_ordered or "hand-over" in broken))
    if transaction.kind == "return":
        yield "no answer", with_node(node._replace(transaction=None))
    if "mark-decides" in broken:
        # It counts as rolled back. An append is made again.
        redone = transaction._replace(kind="append again", phase="open") if transaction.kind == "append" else None
        yield "commit is taken for none", with_node(node._replace(transaction=redone))


def is_fenced(row, transaction, broken):
    lease = transaction.lease
    if row.state != "waiting":
        return True
    if "lease-number" in broken:
        if row.begun != lease.attempt or row.attempts == row.begun:
            return True
    elif row.lease != lease.number:
        return True
    return row.holder != transaction.incarnation and "fence-holder" not in broken


def committed(world, transaction, broken):
    lease = transaction.lease
    if transaction.kind.startswith("append"):
        # In memory, the same commit begins its attempt.
        is_handed_over = not world.is_ordered or "hand-over" in broken
        row = Row("waiting", transaction.incarnation, 1, 1, 0) if is_handed_over else Row("waiting", None, 0, 0, 0)
        rows = world.rows + (row,)
        return world._replace(rows=rows, accepted=world.accepted + (transaction.kind == "append"))
    row = world.rows[lease.place]
    if transaction.kind == "claim":
        # An attempt that was interrupted counts.
        row = Row("waiting", transaction.incarnation, lease.number, lease.attempt, row.begun)
    elif not is_fenced(row, transaction, broken):
        row = settled(row, transaction.kind)
    return world._replace(rows=replaced(world.rows, lease.place, row))


def settled(row, kind):
    if kind == "return":
        return row._replace(holder=None, begun=row.attempts)
    # A row of `ended` has no lease.
    return Row("delivered", None, 0, row.begun, row.begun) if kind == "delivered" else row._replace(
        holder=None, attempts=row.begun)


def known(node, transaction, is_handed_over):
    lease = transaction.lease
    if transaction.kind.startswith("append") and not is_handed_over:
        return node._replace(transaction=None)
    if transaction.kind == "return":
        return node._replace(returned=without(node.returned, lease), transaction=None)
    if transaction.kind in ("append", "append again", "claim"):
        # A lease of an earlier incarnation is not kept.
        held = added(node.held, lease) if transaction.incarnation == node.incarnation else node.held
    else:
        held = without(node.held, lease)
    return node._replace(held=held, transaction=None)


def faults(before, step, world):
    """The invariants that a step breaks."""
    if len(world.rows) > world.accepted:
        yield "an accepted event is one delivery"
    for old, new in zip(before.nodes, world.nodes):
        for lease in set(new.wire) - set(old.wire):
            row = world.rows[lease.place]
            if (row.state, row.holder, row.lease) != ("waiting", new.incarnation, lease.number):
                yield "an attempt begins under a lease that is durable and not lost"
            if world.is_ordered and any(earlier.state == "waiting" for earlier in world.rows[:lease.place]):
                yield "a delivery is sent after those before it of its key"
    for place, (old, row) in enumerate(zip(before.rows, world.rows)):
        if old.state != "waiting" and row != old:
            yield "a delivery ends once"
        writer = before.nodes[int(step[-1])].transaction if step.startswith("commit on") else None
        if row != old and writer and writer.kind in ("delivered", "retry"):
            if (old.holder, old.lease) != (writer.incarnation, writer.lease.number):
                yield "an outcome is recorded for the lease that it is of"
        if row.holder is not None and world.incarnations[row.holder].is_gone:
            yield "a node that was declared gone has no leases"
        if row.holder is not None and old.holder not in (None, row.holder):
            yield "a row is leased once"
    for place, row in enumerate(world.rows):
        requests = [n for n in world.nodes if not world.incarnations[n.incarnation].is_gone
                    for lease in n.wire if (lease.place, lease.attempt) == (place, row.begun)]
        if len(requests) > 1:
            yield "an attempt is on the wire once"


def stuck(world, steps):
    """A lease that a live node has forgotten: no node would ever send the delivery."""
    for place, row in enumerate(world.rows):
        if row.holder is None:
            continue
        lease = Lease(place, row.lease, row.begun)
        for node in world.nodes:
            is_holder = node.incarnation == row.holder and node.transaction is None
            if is_holder and lease not in node.held + node.returned:
                return "a live node remembers what it holds"
    return None


def model(broken):
    return walk.Model(
        FIRST, lambda world: steps(world, broken), faults, stuck)


if __name__ == "__main__":
    sys.exit(walk.main(model, BREAKABLE, "nodes.py", sys.argv[1:]))
