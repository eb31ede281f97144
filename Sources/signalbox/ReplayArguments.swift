import ArgumentParser
import Foundation
import SignalboxCommands
import SignalboxGateway
import SignalboxJSON

/// Positions of payload, time and token in recordings of other tools. Shared by `normalize` and `replay`.
struct EnvelopeOptions: ParsableArguments {
    /// Rejects a text that is not a pointer.
    private static let pointer = argument({ JSONPointer($0) }) {
        "Invalid JSON Pointer \"\($0)\": write it as /message/payload (RFC 6901)."
    }

    /// Nil: the recorded text is the payload.
    @Option(
        help: ArgumentHelp(
            "Position of the payload in each recorded text, such as /payload: an object, or a string that contains one.",
            valueName: "pointer"),
        transform: EnvelopeOptions.pointer)
    var payloadAt: JSONPointer?

    /// Selections by time and `--speed` need it.
    @Option(
        help: ArgumentHelp(
            "Position of the time at which it was sent: RFC 3339, or seconds or milliseconds since 1970. The time of the event is still that of its acceptance.",
            valueName: "pointer"),
        transform: EnvelopeOptions.pointer)
    var timeAt: JSONPointer?

    /// Events contain a hash of the token only.
    @Option(
        help: ArgumentHelp("Position of the device token that it was sent to.", valueName: "pointer"),
        transform: EnvelopeOptions.pointer)
    var tokenAt: JSONPointer?

    /// Without any of the options, each recorded text is a payload by itself.
    var recorded: RecordedEnvelope { RecordedEnvelope(payload: payloadAt, time: timeAt, token: tokenAt) }
}

/// Selects payloads of a recording. All given conditions must hold. ``validate()`` rejects invalid values before any
/// file is opened.
struct SelectionOptions: ParsableArguments {
    /// Any of them. Empty: all vendors.
    @Option(help: ArgumentHelp("Only payloads of this vendor; may be repeated.", valueName: "name"))
    var vendor: [String] = []

    /// Tested on the event, after normalisation.
    @Option(
        help: ArgumentHelp(
            "Only events that match this pattern, written as in a route: '{\"data\": {\"kind\": [\"alert\"]}}'.",
            valueName: "pattern"))
    var filter: String?

    /// Inclusive. An age is relative to the start of the run.
    @Option(help: ArgumentHelp("Only payloads recorded since this time (RFC 3339) or age (24h).", valueName: "time"))
    var since: String?

    /// Exclusive.
    @Option(help: ArgumentHelp("Only payloads recorded before this time or age.", valueName: "time"))
    var until: String?

    /// Counts events that the other conditions select. Nil: no limit.
    @Option(help: ArgumentHelp("Maximum number of events.", valueName: "count"))
    var limit: Int?

    /// Vendors are checked later, because the config may add some.
    func validate() throws { try checkUsage { _ = try request.selection(now: Date()) } }

    /// The texts as given; times relative to now are resolved when the run begins.
    var request: SelectionRequest {
        var request = SelectionRequest()
        (request.vendors, request.filter, request.limit) = (vendor, filter, limit)
        (request.since, request.until) = (since, until)
        return request
    }
}

/// The running gateway that receives the payloads. Without `--to`, `replay` delivers through the queue of the data
/// directory. Requests run concurrently, so the gateway may accept payloads in another order.
struct UploadOptions: ParsableArguments {
    /// An http or https address. The egress policy does not apply to it.
    @Option(
        help: ArgumentHelp(
            "Send the payloads to the running gateway at this address, such as https://push.example.com.",
            valueName: "url"))
    var to: String?

    /// Sent as a bearer token, to `--to` only. A text, because ArgumentParser repeats one that a transformation
    /// rejects.
    @Option(
        help: ArgumentHelp(
            "With --to: reference to the token of the source, env:NAME or file:PATH.", valueName: "reference"))
    var token: String?

    /// From 1 to 256.
    @Option(help: ArgumentHelp("With --to: maximum number of concurrent requests (default: 8).", valueName: "count"))
    var connections: Int?

    /// Rejects a token itself, an invalid address, and options that need `--to`.
    func validate() throws {
        try checkUsage {
            try CommandToken.check(token, option: "--token")
            if let to { _ = try GatewayURL.read(to, [:]) }
        }
        let mistake = UploadArguments(to: to, token: token, connections: connections).mistake
        if let mistake { throw ValidationError(mistake) }
    }
}
