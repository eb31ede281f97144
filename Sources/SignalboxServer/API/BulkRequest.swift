import SignalboxJSON
import SignalboxStore

/// The body of a bulk change: a preview, or a run that confirms one.
struct BulkRequest: Sendable, Equatable {
    /// A preview changes nothing; a run has the token of its preview.
    enum Step: Equatable {
        /// Requested by `"dryRun": true`, without a token.
        case preview
        /// Requested by `confirm` with the token, at most 1,000 bytes.
        case run(confirm: String)
    }

    /// Selects dead deliveries unless the request names another state.
    let filter: DeliveryFilter
    /// The conditions as texts, by name.
    let conditions: [String: String]
    /// A request has either `dryRun` or `confirm`; with both or none it is rejected.
    let step: Step
    /// Why; nil for none. At most 4,000 bytes; a reason of whitespace counts as none.
    let reason: String?
    /// Seconds between the first and the last due time. 0 makes all of them due at once. Only a retry may have it.
    let spread: Int

    /// The largest body in bytes.
    static let bodyLimit = 64 * 1024
    /// The longest spread, in seconds.
    static let longestSpread = 86_400

    /// Throws ``Problem/changeBody(_:at:)`` for mistakes in the form, ``Problem/badQuery(_:)`` for invalid values of
    /// conditions.
    init(_ body: [UInt8], for change: BulkChange) throws(Problem) {
        let known = ["filter", "dryRun", "confirm", "reason"] + (change == .retry ? ["spread"] : [])
        self = try JSONBody.read(
            body, known: known, syntax: { _, _ in .changeBody("The body is not valid JSON.", at: "") },
            refuse: Problem.changeBody
        ) { root throws(Problem) in try BulkRequest(root) }
    }

    /// `root`: an object with known members. Throws 400 with the pointer of the first mistake. `filter` is required;
    /// without a state it selects dead deliveries.
    private init(_ root: JSONValue) throws(Problem) {
        guard let object = root["filter"] else {
            throw .changeBody("filter is missing: send the conditions, {} for all dead deliveries.", at: "")
        }
        var conditions = try Self.conditions(object)
        if conditions["state"] == nil { conditions["state"] = DeliveryRecord.State.dead.rawValue }
        self.conditions = conditions
        filter = try DeliveryFilter { [conditions] in conditions[$0.name] }
        let confirm = try Self.text(root, "confirm", upTo: 1000)
        let dryRun = try root["dryRun"].map { value throws(Problem) in
            guard let flag = value.bool else { throw .changeBody("Expected true or false.", at: "/dryRun") }
            return flag
        }
        switch (dryRun ?? false, confirm) {
        case (true, nil): step = .preview
        case (false, let confirm?): step = .run(confirm: confirm)
        default: throw .changeBody("Send dryRun true for a preview, or confirm with the token of a preview.", at: "")
        }
        reason = try Self.text(root, "reason", upTo: 4000).flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        spread =
            try root["spread"].map { value throws(Problem) in
                guard let seconds = value.integer, (0...Int64(Self.longestSpread)).contains(seconds) else {
                    throw .changeBody("Expected a whole number of seconds up to \(Self.longestSpread).", at: "/spread")
                }
                return Int(seconds)
            } ?? 0
    }

    /// The members of `filter` by name; absent ones have no entry. Throws 400 for an unknown member, an empty string
    /// and any other type, except that a status may be a number.
    private static func conditions(_ object: JSONValue) throws(Problem) -> [String: String] {
        let names = DeliveryFilter.parameters.map(\.name)
        try JSONBody.check(object, at: "/filter", known: names, refuse: Problem.changeBody)
        var conditions: [String: String] = [:]
        for name in names {
            guard let value = object.member(name) else { continue }
            // A status is a number to most clients.
            guard let text = value.string ?? (name == "status" ? value.integer.map { String($0) } : nil),
                !text.isEmpty
            else { throw .changeBody("Expected a string that is not empty.", at: "/filter/\(name)") }
            conditions[name] = text
        }
        return conditions
    }

    /// A string member; nil when it is absent. Throws 400 for another type and for more than `limit` bytes of UTF-8.
    private static func text(_ root: JSONValue, _ name: String, upTo limit: Int) throws(Problem) -> String? {
        guard let value = root.member(name) else { return nil }
        guard let text = value.string, text.utf8.count <= limit else {
            throw .changeBody("Expected a string of at most \(limit) bytes.", at: "/\(name)")
        }
        return text
    }
}
