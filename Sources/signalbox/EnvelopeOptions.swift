import ArgumentParser
import SignalboxGateway
import SignalboxJSON

/// Where payloads stand in what another tool logged.
struct EnvelopeOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Where the payload stands in each recorded text, such as /payload: an object, or a string that holds one.",
            valueName: "pointer"),
        transform: { try JSONPointer(argument: $0) })
    var payloadAt: JSONPointer?

    @Option(
        help: ArgumentHelp(
            "Where the time stands that it was sent at: RFC 3339, or seconds or milliseconds since 1970. An event's time is when it is accepted all the same.",
            valueName: "pointer"),
        transform: { try JSONPointer(argument: $0) })
    var timeAt: JSONPointer?

    @Option(
        help: ArgumentHelp("Where the token stands of the device that it was sent to.", valueName: "pointer"),
        transform: { try JSONPointer(argument: $0) })
    var tokenAt: JSONPointer?

    var recorded: RecordedEnvelope { RecordedEnvelope(payload: payloadAt, time: timeAt, token: tokenAt) }
}

extension JSONPointer {
    /// A pointer from the command line.
    fileprivate init(argument: String) throws {
        guard let pointer = JSONPointer(argument) else {
            throw ValidationError("\(argument) is no JSON Pointer, which is like /message/payload (RFC 6901).")
        }
        self = pointer
    }
}
