"""Walks every reachable state of a model breadth first, and runs a model's command line.

A model is a function of a set of broken rules that returns a `Model`. States must be hashable and equal when nothing
can tell them apart.
"""

import sys
from collections import deque, namedtuple

# `start`: the first state. `steps(state)`: pairs of a step's name and the state after it.
# `faults(before, step, after)`: the invariants that a step breaks. `stuck(state, steps)`: what could never end in this
# state, or None.
Model = namedtuple("Model", "start steps faults stuck", defaults=[lambda state, steps: None])


def explore(model):
    """The number of states, the first broken invariant if any, and the shortest sequence of steps to it."""
    came_from = {model.start: None}
    front = deque([model.start])
    while front:
        state = front.popleft()
        steps = list(model.steps(state))
        for step, after in steps:
            fault = next(model.faults(state, step, after), None)
            if fault is not None:
                return len(came_from), fault, way_to(state, came_from) + [step]
            if after not in came_from:
                came_from[after] = (state, step)
                front.append(after)
        fault = model.stuck(state, steps)
        if fault is not None:
            return len(came_from), fault, way_to(state, came_from)
    return len(came_from), None, []


def way_to(state, came_from):
    way = []
    while came_from[state] is not None:
        state, step = came_from[state]
        way.append(step)
    return way[::-1]


def main(model, rules, program, arguments):
    """Runs the command line of a model; returns the exit code. `rules`: name and description of each rule."""
    if arguments == ["--broken"]:
        missed = 0
        for rule, words in rules.items():
            _, fault, way = explore(model(frozenset([rule])))
            missed += fault is None
            print(f"without \"{words}\": " + (f"{fault} ({', '.join(way)})" if fault else "NOT FOUND"))
        return 1 if missed else 0
    broken = frozenset()
    if arguments[:1] == ["--break"] and len(arguments) == 2 and arguments[1] in rules:
        broken = frozenset(arguments[1:])
    elif arguments:
        print(f"usage: {program} [--broken | --break {'|'.join(rules)}]", file=sys.stderr)
        return 64
    count, fault, way = explore(model(broken))
    if fault is None:
        print(f"{count} states, every rule holds")
        return 0
    print(f"broken: {fault}\n  " + "\n  ".join(way))
    return 1
