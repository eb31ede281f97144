import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting

/// Reads the parameters and bodies of requests about captures.
struct CaptureQuery {
    let call: Call
    /// Reads cursors: one of an earlier process is the beginning.
    let log: CaptureLog
    /// Hashes tokens that are given in clear.
    let tokens: TokenHash

    /// The parameters that select captures.
    static let parameters: [QueryParameter] = [
        .run, QueryParameter("source", .text, "Pushes of this source"),
        QueryParameter("platform", .words(PushService.allCases.map(\.rawValue)), "Pushes to this service"),
        QueryParameter("token", .text, "Pushes to this device, in clear or as events show it"),
        QueryParameter(
            "outcome", .words(Capture.Outcome.allCases.map(\.rawValue) + ["any"]), "Pushes with this outcome"),
        .since, QueryParameter("after", .text, "Pushes after this cursor; `0` is the beginning"),
    ]
    /// The largest body in bytes.
    static let bodyLimit = 256 * 1024

    /// Reads the selection from the parameters and from a body, which may be empty. `outcome`: the default of the
    /// parameter. The `token` of the body replaces that of the parameter. Throws 400 for an unknown word, an invalid
    /// label, an empty source or token, and an invalid pattern; 403 for a pattern of a client that may not read texts.
    func selection(_ body: [UInt8] = [], outcome: Capture.Outcome? = nil) throws(Problem) -> CaptureSelection {
        var selection = CaptureSelection()
        selection.outcome = outcome
        if let text = call.query("outcome") {
            selection.outcome = text == "any" ? nil : try word("outcome", text, and: ["any"])
        }
        if let text = call.query("platform") { selection.service = try word("platform", text) }
        selection.run = try call.query("run").map { run throws(Problem) in
            guard RunLabel.allows(run) else { throw .badQuery("run is not a label: \(NameRule.words).") }
            return run
        }
        selection.source = try call.query("source").map { source throws(Problem) in
            // An unset variable of a script must not wait for pushes that cannot come.
            guard !source.isEmpty else { throw .badQuery("source is empty: write the name of a source.") }
            return SourceName(source)
        }
        selection.since = try call.time("since")
        if let token = call.query("token") {
            guard !token.isEmpty else { throw .badQuery("token is empty: write a device token, or sha256:….") }
            select(token, in: &selection)
        }
        if !body.isEmpty { try read(body, into: &selection) }
        return selection
    }

    /// The number of the parameter `after`; nil without one.
    func after() throws(Problem) -> Int64? { try cursor("after") }

    /// The number of a parameter that has a cursor; nil without one. 0 for a cursor of an earlier process. Throws 400
    /// for text that is not a cursor.
    func cursor(_ name: String) throws(Problem) -> Int64? {
        try call.query(name).map { text throws(Problem) in
            guard let number = log.number(ofCursor: text) else {
                throw .badQuery("\(name) is not a cursor: use `next` of an earlier response.")
            }
            return number
        }
    }

    /// A duration of the parameter `timeout`, up to ``CapturesAPI/longestWait``. 10 s without the parameter. Throws 400
    /// for other text, and for a longer time.
    func timeout() throws(Problem) -> Duration {
        guard let text = call.query("timeout") else { return .seconds(10) }
        guard let time = Duration(text: text), time <= CapturesAPI.longestWait else {
            throw .badQuery("timeout is not a time up to \(CapturesAPI.longestWait.text): write it as 10s or 500ms.")
        }
        return time
    }

    /// Hashes a clear token unchanged. One of hexadecimal digits also counts in lower case, as the APNs endpoint reads
    /// it.
    private func select(_ token: String, in selection: inout CaptureSelection) {
        guard !token.hasPrefix("sha256:") else { return selection.token = token }
        selection.token = tokens.name(of: Array(token.utf8))
        guard token != token.lowercased(), token.utf8.allSatisfy(\.isHexDigit) else { return }
        selection.otherToken = tokens.name(of: Array(token.lowercased().utf8))
    }

    /// A parameter with a closed set of values. Throws 400 with all of them; `others` are values that `Word` lacks.
    private func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ text: String, and others: [String] = []
    ) throws(Problem) -> Word {
        guard let word = Word(rawValue: text) else {
            let known = Word.allCases.map(\.rawValue) + others
            throw .badQuery("Unknown \(name) \(text): write one of \(known.joined(separator: ", ")).")
        }
        return word
    }

    // MARK: The body

    /// `{"match": …, "token": …}`, both optional.
    private func read(_ body: [UInt8], into selection: inout CaptureSelection) throws(Problem) {
        let (match, token) = try JSONBody.read(
            body, known: ["match", "token"],
            syntax: { error, body in
                let mistake = ConfigMistake(error, file: 0, in: body, of: .body)
                let detail = "The body is not valid: \(mistake.message). Send {\"match\": PATTERN}."
                return .captureBody(detail, at: "", mistake.position)
            },
            refuse: { .captureBody($0, at: $1) }, Self.members)
        if let token { select(token, in: &selection) }
        guard let match else { return }
        // The matches of a pattern over texts would reveal the texts.
        if call.hidesContent { throw .contentHidden }
        selection.match = try Self.pattern(match)
    }

    /// Throws 400 with the pointer of a `token` that is not a string, or is empty. The pattern is returned as text,
    /// because the parsed body does not outlive the call.
    private static func members(_ root: JSONValue) throws(Problem) -> (match: JSONText?, token: String?) {
        let token = root["token"]
        if let token, token.string == nil { throw .captureBody("The token must be a string.", at: "/token") }
        if token?.string?.isEmpty == true {
            throw .captureBody("The token is empty: write a device token, or sha256:….", at: "/token")
        }
        return (root["match"].map { JSONText($0) }, token?.string)
    }

    /// Throws 400 with the first error of the pattern, and its pointer in the body.
    private static func pattern(_ match: JSONText) throws(Problem) -> CaptureSelection.EventMatch {
        do throws(InvalidConfig) {
            return CaptureSelection.EventMatch(try Pattern(text: match.bytes), text: match.bytes)
        } catch {
            let mistake = error.firstError
            throw .captureBody("The pattern is not valid: \(mistake.message).", at: "/match" + mistake.pointer)
        }
    }
}
