import SignalboxGateway

/// The label of a run, which keeps the pushes of concurrent tests apart. A sender sets the header field
/// `signalbox-run`. An unchanged sender has it in its URL, as the prefix `/r/LABEL` of the path, after `/s/SECRET` if
/// there is one.
extension ProviderRequest {
    static let runHeader = "signalbox-run"

    /// The error of a label that is not allowed, and the remedy.
    static let invalidRun =
        "The label of the run is not valid: write 1 to 64 letters, digits, '.', '_' and '-' in \(runHeader) "
        + "or as /r/LABEL before the provider's path, after /s/SECRET."

    /// Sets ``run``, and removes the prefix from the path. The prefix has precedence over the header field. Returns
    /// false for a label that ``RunLabel`` does not allow, and for a prefix before `/s/SECRET`.
    mutating func readRun() -> Bool {
        if path.utf8.starts(with: "/r/".utf8) { return removeRun(behind: path.startIndex) }
        if path.utf8.starts(with: "/s/".utf8) {
            // After the secret.
            let secret = path.utf8.dropFirst(3)
            if let slash = secret.firstIndex(of: UInt8(ascii: "/")), path[slash...].utf8.starts(with: "/r/".utf8) {
                return removeRun(behind: slash)
            }
        }
        guard let label = header(Self.runHeader) else { return true }
        run = label
        return RunLabel.allows(label)
    }

    /// Sets ``run`` from the prefix that begins at `start`, and removes the prefix.
    private mutating func removeRun(behind start: String.Index) -> Bool {
        let label = path[start...].utf8.dropFirst(3).prefix { $0 != UInt8(ascii: "/") }
        let rest = path[label.endIndex...]
        run = String(path[label.startIndex..<label.endIndex])
        path = path[..<start] + String(rest)
        return RunLabel.allows(run ?? "") && !rest.utf8.starts(with: "/s/".utf8)
    }
}

extension ProviderReply {
    /// The answer of an endpoint whose provider has no errors with a text.
    static let invalidRun = ProviderReply(
        status: 400, headers: [.init(name: "content-type", value: "text/plain")],
        body: Array((ProviderRequest.invalidRun + "\n").utf8))
}
