import SignalboxInApp

// Decides which messages are active. Runs under the lock of the messages.

extension InAppMessages.State {
    /// Returns false for an older state than the known one, and when too many messages are known.
    /// Also deactivates an earlier revision of the message.
    @discardableResult
    mutating func keep(_ entry: InAppMessages.Entry, of id: MessageID) -> Bool {
        if let known = entries[id] {
            guard known.revision <= entry.revision else { return false }
            deactivate(id)
        } else if entries.count >= InAppMessages.entryLimit {
            return false
        }
        entries[id] = entry
        firstEnd = min(firstEnd, entry.end ?? .max)
        return true
    }

    /// No effect for an unknown message.
    mutating func remove(_ id: MessageID) {
        deactivate(id)
        entries[id] = nil
    }

    /// Gives the message's bytes back to the bound.
    private mutating func deactivate(_ id: MessageID) {
        if index.withdraw(id) != nil { bytes -= entries[id]?.bytes ?? 0 }
    }

    /// Adds a message to the index, or records why it cannot be active.
    mutating func activate(_ definition: Definition, _ id: MessageID) {
        do throws(FormFault) {
            let size = entries[id]?.bytes ?? 0
            try check(definition, size)
            index.register(definition)
            bytes += size
            entries[id]?.fault = nil
        } catch { entries[id]?.fault = error }
    }

    /// The oldest messages first, so that the newest ones are left out when a bound is reached.
    /// Also clears the faults of messages that are permitted again.
    /// Takes the lock for milliseconds with thousands of messages.
    mutating func rebuild() {
        (index, bytes) = (MessageIndex(), 0)
        let definitions = entries.values.compactMap(\.definition).sorted {
            ($0.message.registeredAt, $0.message.id) < ($1.message.registeredAt, $1.message.id)
        }
        for definition in definitions { activate(definition, definition.message.id) }
    }

    /// `size`: bytes of the parts that decisions read.
    /// Throws the first reason; changes nothing.
    func check(_ definition: Definition, _ size: Int) throws(FormFault) {
        do throws(InputFault) { try policy.validate(definition.message) } catch { throw FormFault(error) }
        let former = index[definition.message.id] == nil ? nil : entries[definition.message.id]
        guard index.count - (former == nil ? 0 : 1) < InAppMessages.limit,
            bytes - (former?.bytes ?? 0) + size <= InAppMessages.bytesLimit
        else { throw FormFault(.tooMany, "", "Too many active messages: withdraw others first.") }
        if let trigger = index.excess(of: definition) {
            throw FormFault(
                .tooMany, "/triggers/\(trigger)",
                "Too many active messages and conditions for this trigger: withdraw others, or use another event.")
        }
    }
}
