import NIOHTTP2

/// The frames so far of a connection without requests. Decides what to do with each further one. A pure value.
struct IdleFrameState {
    /// The answer to a frame, and its content for the handler behind.
    struct Step {
        /// Sent to the client.
        var answer: IdleFrame?
        /// Passed on.
        var payload: HTTP2Frame.FramePayload?
    }

    /// The bytes that the library must read: the preface, SETTINGS and WINDOW_UPDATE.
    private(set) var history: [UInt8] = []
    /// The sum of WINDOW_UPDATE to the client.
    var sentIncrement = 0
    /// The sum of WINDOW_UPDATE from the client.
    private var receivedIncrement = 0
    /// Whether the client has sent SETTINGS.
    private(set) var hasSettings = false
    /// Whether the client has acknowledged ours.
    private(set) var isAcknowledged = false

    /// Bytes. ``FrameMeter`` limits the rate of frames that are not recorded.
    private static let longestHistory = 256
    /// Of any window (RFC 9113, 6.9.1).
    private static let largestWindow = Int(Int32.max)

    /// Whether the preface of the client has arrived.
    var hasPreface: Bool { !history.isEmpty }

    /// Nil for a frame that the library must read, including any frame longer than the rest of ``history``.
    mutating func receive(_ frame: IdleFrame) -> Step? {
        guard history.count + frame.bytes.count <= Self.longestHistory else { return nil }
        switch frame.kind {
        case .preface:
            history += frame.bytes
            return Step()
        case .settings(isAcknowledgement: false): return receiveSettings(frame)
        case _ where !hasSettings: return nil
        case .settings(isAcknowledgement: true):
            guard !isAcknowledged else { return nil }
            isAcknowledged = true
            history += frame.bytes
            return Step(payload: .settings(.ack))
        case .windowUpdate: return receiveIncrement(frame)
        case .ping(let isAcknowledgement):
            return Step(
                answer: isAcknowledgement ? nil : .ping(frame.number, isAcknowledgement: true),
                payload: .ping(HTTP2PingData(withInteger: frame.number), ack: isAcknowledgement))
        case .other: return nil
        }
    }

    /// Records and acknowledges SETTINGS. Their values take effect when the library reads them. Nil for forbidden
    /// values.
    private mutating func receiveSettings(_ frame: IdleFrame) -> Step? {
        guard frame.hasPermittedSettings else { return nil }
        hasSettings = true
        history += frame.bytes
        return Step(answer: .acknowledgement, payload: .settings(.settings([])))
    }

    /// Nil for an increment of 0 and for a window that is too large: the library ends the connection with the errors of
    /// RFC 9113, 6.9 and 6.9.1.
    private mutating func receiveIncrement(_ frame: IdleFrame) -> Step? {
        let increment = Int(frame.number)
        guard increment > 0, 65_535 + receivedIncrement + increment <= Self.largestWindow else { return nil }
        receivedIncrement += increment
        history += frame.bytes
        return Step(payload: .windowUpdate(windowSizeIncrement: increment))
    }
}
