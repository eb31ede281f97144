import SignalboxGateway

/// The label of a run, which keeps the pushes of concurrent tests apart. A sender sets the header field
/// `signalbox-run`. An unchanged sender has it in its URL, as the prefix `/r/LABEL` of the path, after `/s/SECRET` if
/// there is one.
extension ProviderRequest {
    /// Not forwarded to push services.
    static let runHeader = "signalbox-run"

    /// The error of a label that is not allowed, and the remedy.
    static let invalidRun =
        "The label of the run is not valid: write 1 to 64 letters, digits, '.', '_' and '-' in \(runHeader) "
        + "or as /r/LABEL before the provider's path, after /s/SECRET."

    /// The request with ``run``, and with a path without the prefix. The prefix has precedence over the header field.
    /// Not valid with a label that ``RunLabel`` does not allow, and with a prefix before `/s/SECRET`.
    func labelled() -> (request: ProviderRequest, isValid: Bool) {
        if path.utf8.starts(with: "/r/".utf8) { return labelled(behind: path.startIndex) }
        if path.utf8.starts(with: "/s/".utf8) {
            // After the secret.
            let secret = path.utf8.dropFirst(3)
            if let slash = secret.firstIndex(of: UInt8(ascii: "/")), path[slash...].utf8.starts(with: "/r/".utf8) {
                return labelled(behind: slash)
            }
        }
        guard let label = header(Self.runHeader) else { return (self, true) }
        return (with(label, path: path), RunLabel.allows(label))
    }

    /// The request with the label of the prefix that begins at `start`, and without the prefix.
    private func labelled(behind start: String.Index) -> (request: ProviderRequest, isValid: Bool) {
        let label = path[start...].utf8.dropFirst(3).prefix { $0 != UInt8(ascii: "/") }
        let rest = path[label.endIndex...]
        let run = String(path[label.startIndex..<label.endIndex])
        let isValid = RunLabel.allows(run) && !rest.utf8.starts(with: "/s/".utf8)
        return (with(run, path: path[..<start] + String(rest)), isValid)
    }

    /// `path`: without the prefix. The result has a ``mark`` of its own, so it must replace this request.
    private func with(_ run: String, path: String) -> ProviderRequest {
        ProviderRequest(
            method: method, path: path, query: query, authority: authority, headers: headers, bodyLength: bodyLength,
            connection: connection, run: run)
    }
}

extension ProviderReply {
    /// The answer of an endpoint whose provider has no errors with a text.
    static let invalidRun = ProviderReply(
        status: 400, headers: [.init(name: "content-type", value: "text/plain")],
        body: Array((ProviderRequest.invalidRun + "\n").utf8))
}
