import NIOCore
import NIOHTTP2

/// One frame of a connection without requests, or the preface of its client (RFC 9113, 3.4 and 6).
struct IdleFrame: Equatable {
    /// The kinds that need no library, and ``other``. Acknowledgements have the flag ACK (RFC 9113, 6.5 and 6.7).
    enum Kind: Equatable {
        /// The first 24 bytes of a client.
        case preface
        case settings(isAcknowledgement: Bool)
        case ping(isAcknowledgement: Bool)
        /// Of the connection.
        case windowUpdate
        /// Any other frame, one that is too long, and one that breaks a rule.
        case other
    }

    let kind: Kind
    /// The whole frame, with its head; empty for ``Kind/other``.
    let bytes: [UInt8]

    /// The longest frame of SETTINGS: ten values.
    private static let longest = 60
    /// Length, type, flags and stream identifier (RFC 9113, 4.1).
    private static let headLength = 9

    /// Whether the library must read the frame.
    var isOther: Bool { kind == .other }

    /// The payload.
    private var payload: ArraySlice<UInt8> { bytes.dropFirst(Self.headLength) }

    /// The payload as one number: the increment of WINDOW_UPDATE, the data of PING.
    var number: UInt64 { payload.reduce(0) { $0 << 8 | UInt64($1) } }

    /// True for SETTINGS whose values are permitted (RFC 9113, 6.5.2).
    var hasPermittedSettings: Bool {
        stride(from: payload.startIndex, to: payload.endIndex, by: 6).allSatisfy { start in
            let value = payload[start + 2..<start + 6].reduce(0) { $0 << 8 | UInt64($1) }
            return switch (payload[start], payload[start + 1]) {
            // SETTINGS_ENABLE_PUSH, SETTINGS_INITIAL_WINDOW_SIZE, SETTINGS_MAX_FRAME_SIZE
            case (0, 2): value <= 1
            case (0, 4): value <= 0x7FFF_FFFF
            case (0, 5): (16_384...16_777_215).contains(value)
            default: true
            }
        }
    }
}

// MARK: Reading

extension IdleFrame {
    /// The first frame of `unread`; nil until it is complete. `isFirst`: whether the preface is expected instead.
    init?(_ unread: ByteBuffer, isFirst: Bool) {
        let view = unread.readableBytesView
        guard !isFirst else {
            let preface = Array(view.prefix(ProtocolSniffer.preface.count))
            guard ProtocolSniffer.preface.starts(with: preface) else {
                self.init(kind: .other, bytes: [])
                return
            }
            guard preface.count == ProtocolSniffer.preface.count else { return nil }
            self.init(kind: .preface, bytes: preface)
            return
        }
        let head = Array(view.prefix(Self.headLength))
        guard head.count == Self.headLength else { return nil }
        let length = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
        let kind = Self.kind(head, length: length)
        guard kind != .other else {
            self.init(kind: .other, bytes: [])
            return
        }
        guard view.count >= Self.headLength + length else { return nil }
        self.init(kind: kind, bytes: Array(view.prefix(Self.headLength + length)))
    }

    /// `head`: 9 bytes. A frame of a stream, one of another type, and one of a wrong length are ``Kind/other``.
    private static func kind(_ head: [UInt8], length: Int) -> Kind {
        let isAcknowledgement = head[4] & 1 == 1
        guard head[5...].allSatisfy({ $0 == 0 }) else { return .other }
        switch (head[3], length) {
        case (4, 0): return .settings(isAcknowledgement: isAcknowledgement)
        case (4, ...longest) where length % 6 == 0 && !isAcknowledgement: return .settings(isAcknowledgement: false)
        case (6, 8): return .ping(isAcknowledgement: isAcknowledgement)
        case (8, 4): return .windowUpdate
        default: return .other
        }
    }
}

// MARK: Writing

extension IdleFrame {
    /// The acknowledgement of SETTINGS.
    static let acknowledgement = IdleFrame(.settings(isAcknowledgement: true), type: 4, flags: 1, [])

    static func settings(_ settings: [ConnectionSetting]) -> IdleFrame {
        IdleFrame(
            .settings(isAcknowledgement: false), type: 4, flags: 0,
            settings.flatMap { bytes($0.id) + bytes(UInt32($0.value)) })
    }

    /// `data`: opaque; an acknowledgement repeats it.
    static func ping(_ data: UInt64, isAcknowledgement: Bool) -> IdleFrame {
        IdleFrame(.ping(isAcknowledgement: isAcknowledgement), type: 6, flags: isAcknowledgement ? 1 : 0, bytes(data))
    }

    /// `increment`: from 1 to 2³¹ − 1.
    static func windowUpdate(_ increment: Int) -> IdleFrame {
        IdleFrame(.windowUpdate, type: 8, flags: 0, bytes(UInt32(increment)))
    }

    /// ``Kind/other``, because it is only written. `data`: debug data that fits in one frame.
    static func goAway(_ last: HTTP2StreamID, _ code: HTTP2ErrorCode, _ data: ByteBuffer?) -> IdleFrame {
        let text = data.map { Array($0.readableBytesView) } ?? []
        return IdleFrame(.other, type: 7, flags: 0, bytes(UInt32(Int(last))) + bytes(UInt32(code.networkCode)) + text)
    }

    /// A frame of the connection.
    private init(_ kind: Kind, type: UInt8, flags: UInt8, _ payload: [UInt8]) {
        self.kind = kind
        let length = Array(Self.bytes(UInt32(payload.count)).dropFirst())
        bytes = length + [type, flags, 0, 0, 0, 0] + payload
    }

    /// In network byte order, as all numbers of HTTP/2 (RFC 9113, 2.2).
    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}
