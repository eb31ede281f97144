package import SignalboxInApp

/// The rows of a hypothetical decision: those of the store, changed as the question asks. The decision writes no row.
extension ExplainForm {
    /// The same question, with the displays that a limit of `policy` counts in place of its name. Throws for a name
    /// that no limit has.
    package func resolved(by policy: Policy) throws(FormFault) -> ExplainForm {
        var form = self
        for index in counters.indices {
            guard case .limit(let name) = counters[index].owner else { continue }
            guard let limit = policy.limits.first(where: { $0.name == name }) else {
                throw FormFault(
                    InputFault.Code.unknownLimit, "/counters/\(index)/limit",
                    "The config has no in-app limit with this name.")
            }
            form.counters[index].per = limit.per
            switch limit.owner {
            case .scope: form.counters[index].owner = .scope
            case .vendor(let vendor): form.counters[index].owner = .vendor(vendor)
            case .message, .named: break
            }
        }
        return form
    }

    /// The rows that the decision reads instead of `state`, which must be of the question's device and user. `now`: the
    /// server's time, for a question without `at`. `vendor`: the vendor of a message, for the limits of vendors. For a
    /// question that is ``resolved(by:)``.
    /// Returns the time of the decision as well.
    package func rows(
        over state: InAppState, now: Instant, vendor: (SignalboxInApp.MessageID) -> Vendor?
    ) -> (state: InAppState, now: Instant) {
        let now = at ?? now
        var state = hasEmptyHistory ? Self.emptied(state) : state
        // Otherwise the engine would decide at the time of the last decision.
        state.user.lastNow = min(state.user.lastNow, now)
        state.device.lastNow = min(state.device.lastNow, now)
        for counter in counters {
            let last = counter.last ?? now
            switch (counter.per, counter.owner) {
            case (.everyone, .message(let message)): state.tallies[message] = Tally(committed: counter.count)
            case (.everyone, _): break
            case (.user, _): state.user.ledger.set(counter, last, in: state.device, vendor)
            case (.device, _): state.device.ledger.set(counter, last, in: state.device, vendor)
            }
        }
        return (state, now)
    }

    /// Keeps what the client would report again: its state and the number of its session.
    private static func emptied(_ state: InAppState) -> InAppState {
        var device = DeviceState(id: state.device.id)
        device.user = state.device.user
        device.session = state.device.session
        device.client = state.device.client
        return InAppState(user: UserState(id: state.user.id), device: device)
    }
}

/// Counters of a question, as displays and totals that limits count.
extension Ledger {
    /// Replaces the displays of a message, or those that a vendor, a shared limit or the scope counts, by `count`
    /// displays at one time. The message's displays also count for its vendor and the scope, a vendor's and a shared
    /// limit's for the scope.
    fileprivate mutating func set(
        _ counter: ExplainForm.Counter, _ last: Instant, in device: DeviceState,
        _ vendor: (SignalboxInApp.MessageID) -> Vendor?
    ) {
        var display = Display(
            offer: "what-if \(counter.owner)", at: last, message: "", vendor: "", device: device.id,
            session: device.session, count: counter.count)
        let former: Int
        switch counter.owner {
        case .message(let message):
            former = totals[.message(message)]?.count ?? 0
            display.message = message
            display.vendor = vendor(message) ?? displays.last { $0.message == message }?.vendor ?? ""
            displays.removeAll { $0.message == message }
            set(.message(message), counter.count, last)
            add(counter.count - former, last, to: .vendor(display.vendor))
        case .vendor(let vendor):
            former = totals[.vendor(vendor)]?.count ?? 0
            display.vendor = vendor
            // They still count for their messages.
            exempt { $0.vendor == vendor }
            set(.vendor(vendor), counter.count, last)
        case .limit(let name):
            former = totals[.named(name)]?.count ?? 0
            display.namedLimits = [name]
            for index in displays.indices { displays[index].namedLimits.removeAll { $0 == name } }
            set(.named(name), counter.count, last)
        case .scope:
            former = totals[.scope]?.count ?? 0
            exempt { _ in true }
        }
        if counter.owner == .scope {
            set(.scope, counter.count, last)
        } else {
            add(counter.count - former, last, to: .scope)
        }
        guard counter.count > 0 else { return }
        self = Ledger(displays: displays + [display], totals: totals)
    }

    /// Such displays count for their own message only.
    private mutating func exempt(_ isMeant: (Display) -> Bool) {
        for index in displays.indices where isMeant(displays[index]) { displays[index].isExempt = true }
    }

    /// No total for zero displays.
    private mutating func set(_ key: Key, _ count: Int, _ last: Instant) {
        totals[key] = count > 0 ? Total(count: count, last: last) : nil
    }

    /// Adds to a total; a total of none is removed.
    private mutating func add(_ difference: Int, _ last: Instant, to key: Key) {
        let count = max((totals[key]?.count ?? 0) + difference, 0)
        totals[key] = count > 0 ? Total(count: count, last: max(totals[key]?.last ?? last, last)) : nil
    }
}
