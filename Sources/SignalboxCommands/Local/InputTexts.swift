package import SignalboxConfig
package import SignalboxGateway
package import SignalboxInApp
package import SignalboxRouting

/// Inputs that a command reads as a whole.
package enum InputTexts {
    /// One payload, perhaps compressed. Reads little more than the largest payload. Throws for a larger file, and a
    /// `ReplayError` for a file that cannot be read or decompressed.
    package static func payload(_ inputs: InputFiles) throws -> [UInt8] {
        var body: [UInt8] = []
        var file = try inputs.open(0)
        while try file.read({ body.append(contentsOf: $0) }) {
            guard body.count <= Normalizer.payloadLimit else {
                throw CommandFailure.refused(
                    "\(file.name) is larger than \(Normalizer.payloadLimit) bytes; explain takes one payload.")
            }
        }
        return body
    }

    /// A timeline of in-app messages. Writes every mistake on standard error and throws. Reads little more than the
    /// largest timeline. `policy`: applies until the first line with another policy.
    package static func timeline(_ path: String, _ policy: Policy) throws -> Timeline {
        StandardError.announceInput([path], of: "a timeline")
        let files = InputFiles([path])
        var bytes: [UInt8] = []
        var input = try files.open(0)
        while try input.read({ bytes.append(contentsOf: $0) }), bytes.count <= Timeline.Bounds.bytes {}
        do throws(InvalidTimeline) {
            return try Timeline(bytes, policy: policy)
        } catch {
            let lines = error.faults.map { $0.text(in: files.name(of: 0)) }
            let more = error.more > 0 ? ["and \(error.more) more"] : []
            StandardError.write((lines + more).map { $0 + "\n" }.joined())
            throw CommandFailure.refused("")
        }
    }

    /// The cases of `routes test`, and their text for reports. Throws all errors of the cases. `config`: the only
    /// routes and destinations that cases may expect. `-` is standard input.
    package static func cases(
        _ path: String, for config: GatewayConfig
    ) throws -> (text: ConfigText, cases: [RouteCase]) {
        StandardError.announceInput([path], of: "cases")
        let most = ConfigBounds.bytes + 1
        let isFile = path != "-"
        let bytes: [UInt8]
        do {
            bytes = try isFile ? ConfigText.contents(of: path, upTo: most, orPipe: true) : input(upTo: most)
        } catch let error as UnreadableFile {
            throw CommandFailure.refused(
                "Cannot read \(path): \(error.reason). It must contain a JSON array of cases.")
        }
        let text = ConfigText(name: isFile ? path : "standard input", bytes: bytes)
        do throws(InvalidConfig) { return (text, try RouteCase.read(text, for: config)) } catch {
            throw ConfigRefusal(error, in: [text])
        }
    }

    /// The beginning of standard input, at most this many bytes. Throws `ReplayError` if it cannot be read.
    private static func input(upTo most: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var input = try InputFiles(["-"]).open(0)
        while bytes.count < most, try input.read({ bytes.append(contentsOf: $0) }) {}
        return Array(bytes.prefix(most))
    }

    /// The keys of `signalbox listen`; nil when neither the option nor the environment names a secret. An empty
    /// variable counts as unset. Throws for a secret that cannot be read or is not a key of Standard Webhooks.
    package static func webhookKeys(_ text: String?, _ environment: [String: String]) throws(CommandFailure)
        -> WebhookKeys?
    {
        let implied = environment["WEBHOOK_SECRET", default: ""].isEmpty ? nil : "env:WEBHOOK_SECRET"
        guard let text = text ?? implied else { return nil }
        guard let reference = SecretReference(text) else {
            throw .refused(
                "--secret takes a reference, env:NAME or file:/path. A secret itself would show in the process list.")
        }
        do {
            return WebhookKeys([try WebhookKey(try reference.resolve(environment: environment))])
        } catch {
            throw .refused("\(error).")
        }
    }
}
