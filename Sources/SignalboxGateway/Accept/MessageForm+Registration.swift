import SignalboxConfig
import SignalboxInApp

// Bounds of the form that the engine's `Definition` does not have. Messages of payloads are checked when they are
// written, so that no form has to be read back.

extension MessageForm {
    /// Throws the first value for which ``read(_:id:revision:registeredAt:)`` would reject the form. `body`: the bytes
    /// of ``write()``. The message must be within the bounds of the engine, have limits for its lifetime only, and have
    /// times between the years 0 and 9999.
    func checkRegistration(as body: [UInt8]) throws(FormFault) {
        guard body.count <= FormBounds.message else { throw .tooLarge("", "The form", body.count, FormBounds.message) }
        try check(content, upTo: FormBounds.content, "content")
        try check(action, upTo: FormBounds.action, "action")
        try FormFault.check(message.campaign, at: "/campaign")
        for (index, trigger) in message.triggers.enumerated() { try trigger.checkForm(at: "/triggers/\(index)") }
        for (span, pointer) in [
            (message.delay, "/delay"), (message.timeout, "/timeout"), (message.interval, "/interval"),
            (message.reEligibility.span, "/reEligibility"),
        ] as [(Span?, String)] {
            // A number of the largest unit that fits may still be too great.
            guard let span, span != 0, Duration(text: Duration.milliseconds(span).text) == nil else { continue }
            throw FormFault(
                FormFault.Code.invalidValue, pointer, "Expected a shorter duration, or one in a larger unit.")
        }
        try FormFault.check(message.requirements.template, at: "/requires/template")
    }

    private func check(_ json: [UInt8]?, upTo limit: Int, _ key: String) throws(FormFault) {
        guard let json else { return }
        guard json.count <= limit else { throw .tooLarge("/" + key, key, json.count, limit) }
        // The form is a level of its own.
        guard json.nesting(upTo: Normalizer.depthLimit) < Normalizer.depthLimit else {
            throw FormFault(FormFault.Code.notJSON, "/" + key, "\(key) is nested too deep.")
        }
    }
}

extension MessageTrigger {
    /// Names that the engine compares and does not check, and values of filters.
    fileprivate func checkForm(at pointer: @autoclosure () -> String) throws(FormFault) {
        switch self {
        case .pushOpen(let campaign): try FormFault.check(campaign, at: pointer() + "/campaign")
        case .messageClick(_, let button): try FormFault.check(button, at: pointer() + "/button")
        case .slot(let label):
            try FormFault.check(label.productID, at: pointer() + "/productId")
            try FormFault.check(label.sku, at: pointer() + "/sku")
        case .event(_, let filter): try filter?.checkForm(at: pointer() + "/filter")
        case .purchase(let product, let filter):
            try FormFault.check(product, at: pointer() + "/product")
            try filter?.checkForm(at: pointer() + "/filter")
        case .sessionStart, .screen, .rule, .immediate, .test: break
        }
    }
}

extension Filter {
    /// JSON has neither infinite numbers nor patterns that match everything.
    fileprivate func checkForm(at pointer: @autoclosure () -> String) throws(FormFault) {
        for condition in groups.joined() where !condition.comparison.isWritable {
            throw FormFault(
                FormFault.Code.invalidValue, pointer(), "JSON has no form for the value of \(condition.property).")
        }
    }
}

extension Filter.Comparison {
    fileprivate var isWritable: Bool {
        switch self {
        case .equals(let value), .notEquals(let value): value.isWritable
        case .greaterThan(let bound), .atLeast(let bound), .lessThan(let bound), .atMost(let bound): bound.isFinite
        case .oneOf(let values), .noneOf(let values), .containsAll(let values): values.allSatisfy(\.isWritable)
        case .matches(let pattern), .notMatches(let pattern): !pattern.source.isEmpty
        case .exists, .notExists, .before, .after: true
        case .unsupported(let word): (1...Bounds.nameLength).contains(word.utf8.count)
        }
    }
}

extension PropertyValue {
    fileprivate var isWritable: Bool {
        if case .number(let number) = self { number.isFinite } else { true }
    }
}

extension Message.ReEligibility {
    fileprivate var span: Span? {
        if case .after(let span) = self { span } else { nil }
    }
}

extension [UInt8] {
    /// The deepest nesting of brackets in this JSON text. For a text that is too short to reach `limit`, some number
    /// below it that is not less than the nesting.
    fileprivate func nesting(upTo limit: Int) -> Int {
        guard count >= 2 * limit else { return count / 2 }
        var depth = 0
        var deepest = 0
        var isInString = false
        var position = 0
        while position < count {
            switch self[position] {
            case UInt8(ascii: "\""): isInString.toggle()
            case UInt8(ascii: "\\"): position += 1
            case UInt8(ascii: "{") where !isInString, UInt8(ascii: "[") where !isInString:
                depth += 1
                deepest = Swift.max(deepest, depth)
            case UInt8(ascii: "}") where !isInString, UInt8(ascii: "]") where !isInString: depth -= 1
            default: break
            }
            position += 1
        }
        return deepest
    }
}

extension FormFault {
    /// Throws for an optional name that is empty or too long.
    fileprivate static func check(_ name: String?, at pointer: @autoclosure () -> String) throws(FormFault) {
        guard let name else { return }
        let length = name.utf8.count
        guard length > 0 else { throw FormFault(.empty, pointer(), "This string is empty.") }
        guard length <= Bounds.nameLength else {
            throw FormFault(
                .tooLong, pointer(), "This string has \(length) bytes; at most \(Bounds.nameLength) are allowed.")
        }
    }

    fileprivate static func tooLarge(_ pointer: String, _ name: String, _ bytes: Int, _ limit: Int) -> FormFault {
        FormFault(Code.tooLarge, pointer, "\(name) has \(bytes) bytes; at most \(limit) are allowed.")
    }
}
