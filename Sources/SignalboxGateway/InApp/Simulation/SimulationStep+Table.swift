import SignalboxInApp
import SignalboxNotification

/// The output of `signalbox inapp simulate` without `--json`.
extension SimulationStep {
    /// The steps as a table for people: time, device, event, result, message, and why the others lost. A step has a
    /// row for each of its effects. Control characters become spaces.
    /// Columns are as wide as their longest cell. Returns the header alone for no steps.
    package static func table(_ steps: [SimulationStep]) -> String {
        let rows = steps.flatMap(\.rows).map { $0.map(EventLine.printable) }
        let lines = TextTable.lines([["TIME", "DEVICE", "EVENT", "RESULT", "MESSAGE", "WHY"]] + rows)
        return lines.split(separator: "\n").map { line -> String in
            var text = String(line)
            // A row without reasons ends in the spaces of its columns.
            while text.last == " " { text.removeLast() }
            return text + "\n"
        }.joined()
    }

    /// The most losing candidates that a row names.
    /// More would not fit into a line of a terminal; `--json` has all of them.
    private static let named = 10

    /// The step with as many candidates and checks as a table shows, so many steps fit into memory.
    /// Candidates that are left out are added to `omitted`.
    package var brief: SimulationStep {
        var step = self
        let losers = Self.losers(of: step.answer?.candidates ?? [])
        step.answer?.candidates = losers
        step.answer?.omitted += (answer?.candidates.count { Self.isLoser($0) } ?? 0) - losers.count
        for index in (step.placed?.slots ?? []).indices {
            step.placed?.slots[index].candidates = Self.losers(of: placed?.slots[index].candidates ?? [])
        }
        return step
    }

    /// True for a candidate that is neither shown nor held back from a member of a control group.
    private static func isLoser(_ candidate: Candidate) -> Bool {
        candidate.result != .shown && candidate.result != .held
    }

    /// The first losing candidates, at most ``named``, each with its first failed check.
    private static func losers(of candidates: [Candidate]) -> [Candidate] {
        candidates.lazy.filter(isLoser).prefix(named).map { candidate in
            var candidate = candidate
            candidate.checks = candidate.checks.first { !$0.ok }.map { [$0] } ?? []
            return candidate
        }
    }

    /// The columns from `RESULT` on.
    /// `-` stands for no message.
    private typealias Effect = (result: String, message: String, why: String)

    /// The first row has time, device and event; the others are its further effects.
    private var rows: [[String]] {
        effects.enumerated().map { index, effect in
            let head = index == 0 ? [Self.text(at), device ?? "-", words] : ["", "", ""]
            return head + [effect.result, effect.message, effect.why]
        }
    }

    /// At least one.
    private var effects: [Effect] {
        switch action {
        case .message(let id, let revision): [("registered", id, revision.map { "revision \($0)" } ?? "unchanged")]
        case .withdraw(let id, let isKnown): [(isKnown ? "withdrawn" : "unknown", id, "")]
        case .policy: [("active", "-", "")]
        case .trigger: triggerEffects
        case .outcome: outcomeEffects
        case .slots: slotEffects
        case .time: records.map(Self.effect)
        }
    }

    /// The answer comes first, then the transitions of other offers on the device.
    private var triggerEffects: [Effect] {
        guard let answer else { return [] }
        let held = records.first { $0.kind == .held }
        let others = records.filter { record in
            record != held && record.kind != .noMatch
                && !(record.kind == .offered && record.offer?.id == answer.offer?.id)
        }
        let why = Self.losers(answer.candidates, omitted: answer.omitted, next: answer.nextCheck)
        let main: Effect =
            if let offer = answer.offer {
                (answer.isRepeat ? "repeat" : "offered", offer.message, why)
            } else if let held {
                ("held", held.offer?.message ?? "-", Self.joined("group \(held.detail ?? "")", why))
            } else if records.contains(where: { $0.kind == .noMatch }) {
                ("no-match", "-", why.isEmpty ? "no message has this trigger" : why)
            } else {
                (answer.isRepeat ? "repeat" : "nothing", "-", why)
            }
        return [main] + others.map(Self.effect)
    }

    /// A rejected outcome has its code; an accepted one its transitions.
    private var outcomeEffects: [Effect] {
        if problem == "no-offer" { return [("skipped", "-", "that line gave no offer")] }
        if let problem { return [("rejected", "-", problem)] }
        let effects = records.map(Self.effect)
        guard effects.isEmpty else { return effects }
        return [(answer?.isRepeat == true ? "repeat" : "accepted", reported?.message ?? "-", "")]
    }

    /// One row for each slot, even for an empty one.
    private var slotEffects: [Effect] {
        let offered = Set((placed?.slots ?? []).compactMap(\.offer?.id))
        let slots: [Effect] = (placed?.slots ?? []).map { slot in
            let name = "slot \(slot.label.name)"
            if let error = slot.error { return ("error", "-", "\(name): \(error.rawValue)") }
            let why = Self.joined(
                name, slot.warning?.rawValue ?? "", Self.losers(slot.candidates, omitted: 0, next: nil))
            return (slot.offer == nil ? "empty" : "offered", slot.offer?.message ?? "-", why)
        }
        let override: [Effect] = (placed?.error).map { [("error", "-", $0.rawValue)] } ?? []
        let others = records.filter { $0.kind != .offered || !offered.contains($0.offer?.id ?? "") }.map(Self.effect)
        let all = override + slots + others
        return all.isEmpty ? [("empty", "-", "the page has no slot")] : all
    }

    // MARK: Cells

    /// Without empty parts.
    private static func joined(_ parts: String...) -> String { parts.filter { !$0.isEmpty }.joined(separator: "; ") }

    /// A transition with its reason and flags.
    private static func effect(_ record: Record) -> Effect {
        let why = [record.detail ?? ""] + record.flags
        return (record.kind.rawValue, record.offer?.message ?? "-", why.filter { !$0.isEmpty }.joined(separator: ", "))
    }

    /// Why each candidate is not shown, and when the client may ask again.
    private static func losers(_ candidates: [Candidate], omitted: Int, next: Instant?) -> String {
        let reasons = candidates.filter(isLoser).map { candidate in
            let check = candidate.checks.first { !$0.ok }
            return "\(candidate.message) \(candidate.result.rawValue)" + (check.map { ": " + reason($0) } ?? "")
        }
        let more = omitted > 0 ? ["and \(omitted) more"] : []
        return (reasons + more + (next.map { ["next check \(text($0))"] } ?? [])).joined(separator: "; ")
    }

    /// The first failed check in a few words.
    private static func reason(_ check: Check) -> String {
        if let until = check.until { return "\(check.code.rawValue) until \(text(until))" }
        let winner = check.code == .priorityLost ? " to \(check.source)" : ""
        let details = "\(check.actual), expected \(check.expected)"
        // The engine's times are numbers; the JSON output has all values.
        let hasTime = details.split { !$0.isNumber }.contains { $0.count >= 12 }
        return check.code.rawValue + winner + (hasTime ? "" : " (\(details))")
    }

    /// RFC 3339, without milliseconds if there are none.
    /// Falls back to the number for a time outside RFC 3339.
    private static func text(_ instant: Instant) -> String {
        guard let text = Timestamp(milliseconds: instant)?.text else { return "\(instant)" }
        return text.hasSuffix(".000Z") ? String(text.dropLast(5)) + "Z" : text
    }
}
