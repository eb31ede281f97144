import SignalboxJSON
import SignalboxNotification

/// A request of `projects.messages.send` that Google would accept.
struct FCMMessage: Sendable, Equatable {
    /// Whether the request only asks for the check.
    let isDryRun: Bool
    let target: Target
    /// Whether Google must decide on names that the gateway does not know.
    let hasUnknownNames: Bool

    /// The addressee of a message.
    enum Target: Sendable, Equatable {
        /// A registration token or an installation id.
        case device([UInt8])
        /// Without the prefix `/topics/`, which HTTP v1 does not have.
        case topic(String)
        /// As sent, and valid by ``TopicCondition``: it names at most five topics.
        case condition(String)
    }

    /// The most bytes of a message's keys and values (firebase.google.com, "About FCM messages").
    static let largest = 4096
    /// The most bytes of keys and values in a message to a topic.
    static let largestToTopic = 2048
    /// The longest time to live, in seconds: four weeks.
    static let longestLife: Int64 = 2_419_200

    /// Checks a request in the order of Google's API: syntax, then fields and types, then values. `parser`: reset
    /// before; owns the values of the call. `isForwarded`: Google decides on the message. Then names, sizes and tokens
    /// that Google's documents leave open are not checked. Every error has the status 400.
    init(_ body: [UInt8], with parser: JSONParser, isForwarded: Bool = false) throws(GoogleError) {
        parser.reset()
        let root = try parser.parse(body, orThrow: Self.unreadable)
        guard root.isObject else {
            throw .malformed([
                .init(description: "Invalid JSON payload received. Unknown name \"\": Root element must be a message.")
            ])
        }
        var violations = ProtoViolations(passingUnknownNames: isForwarded)
        FCMSchema.request.check(root, at: "", &violations)
        guard violations.all.isEmpty else { throw .malformed(violations.all) }
        hasUnknownNames = violations.hasUnknownName
        // ProtoJSON accepts both names, and reads null as absent.
        isDryRun = [root["validate_only"], root["validateOnly"]].contains {
            $0?.bool == true || $0?.equals("true") == true
        }
        guard let message = root["message"], message.isObject else { throw .recipientMissing }
        target = try Self.target(of: message, isForwarded: isForwarded)
        try Self.checkData(message["data"], "message.data")
        for name in ["android", "android_v2", "androidV2"] {
            let android = message.member(name)
            try Self.checkData(android?["data"], "message.\(name).data")
            try Self.checkLife(of: android?["ttl"], "message.\(name).ttl")
        }
        if !isForwarded { try Self.checkSize(of: message) }
    }

    private static func unreadable(_ error: JSONError) -> GoogleError {
        let reason =
            switch error.reason {
            case .empty: "Unexpected end of string. Expected a value."
            case .incomplete, .unclosedString: "Unexpected end of string."
            case .tooDeep: "Message too deep."
            default: "Unexpected token."
            }
        return .malformed([.init(description: "Invalid JSON payload received. \(reason)")])
    }

    // MARK: Values

    /// The first of ``FCMSchema/targets`` that is a string: the schema has rejected a second one. Throws if none is, or
    /// it is empty.
    private static func target(of message: JSONValue, isForwarded: Bool) throws(GoogleError) -> Target {
        let names = FCMSchema.targets
        guard let name = names.first(where: { message.member($0)?.isString == true }),
            let target = message.member(name)?.utf8, !target.isEmpty
        else { throw .recipientMissing }
        switch name {
        case "topic":
            guard isTopic(target) else { throw .invalid("message.topic", "Invalid topic name.") }
            return .topic(String(decoding: target, as: UTF8.self))
        case "condition":
            do throws(InvalidCondition) { _ = try TopicCondition(parsing: target) } catch {
                throw .invalid("message.condition", "Invalid condition expression provided.")
            }
            return .condition(String(decoding: target, as: UTF8.self))
        default:
            guard isForwarded || isToken(target) else { throw .tokenInvalid }
            return .device(Array(target))
        }
    }

    /// 1 to 900 letters, digits, `-`, `_`, `.`, `~` and `%` (firebase.google.com, "Send messages to topics").
    static func isTopic(_ name: some Collection<UInt8>) -> Bool {
        (1...900).contains(name.count) && name.allSatisfy { $0.isLetterOrDigit || "-_.~%".utf8.contains($0) }
    }

    /// A token in the alphabet of FCM's, of 1 to 1024 bytes. Every such token counts as registered. Google documents
    /// neither the length nor the alphabet.
    static func isToken(_ token: some Collection<UInt8>) -> Bool {
        (1...1024).contains(token.count) && token.allSatisfy { $0.isLetterOrDigit || "-_.~%:".utf8.contains($0) }
    }

    /// Throws for the first reserved key. `field`: names the data in the error.
    private static func checkData(_ data: JSONValue?, _ field: String) throws(GoogleError) {
        guard let data else { return }
        for (key, _) in data.members where isReserved(key) {
            throw .invalid(field, "Invalid data payload key: \(String(decoding: key.prefix(100), as: UTF8.self))")
        }
    }

    /// Keys that FCM uses itself (REST reference of `projects.messages`, `data`).
    static func isReserved(_ key: some Collection<UInt8>) -> Bool {
        key.elementsEqual("from".utf8) || key.elementsEqual("message_type".utf8) || key.starts(with: "google.".utf8)
            || key.starts(with: "gcm.".utf8)
    }

    /// Accepts 0 s to four weeks. A value that is not a duration passes here, because the schema has rejected it.
    private static func checkLife(of value: JSONValue?, _ field: String) throws(GoogleError) {
        guard let duration = value?.string.flatMap({ ProtoDuration($0) }) else { return }
        let isTooLong = duration.seconds > longestLife || (duration.seconds == longestLife && duration.hasFraction)
        guard duration.isNegative || isTooLong else { return }
        throw .invalid(field, "Invalid ttl: it must be from 0s to \(longestLife)s.")
    }

    // MARK: Size

    /// Google does not document the sum. Counted here: keys and strings of `data` and `notification`, with those of
    /// `android` that override them, and the payload for APNs on its own.
    private static func checkSize(of message: JSONValue) throws(GoogleError) {
        let limit =
            message["topic"]?.isString == true || message["condition"]?.isString == true
            ? largestToTopic : largest
        let (android, second) = (message["android"], message["android_v2"] ?? message["androidV2"])
        let remote = second?["remote_notification"] ?? second?["remoteNotification"]
        let sizes = [
            bytes(in: message["data"]) + bytes(in: message["notification"]),
            bytes(in: android?["data"] ?? message["data"]) + bytes(in: android?["notification"]),
            bytes(in: second?["data"] ?? message["data"]) + bytes(in: remote?["notification"]),
            message["apns"]?["payload"].map { JSONText($0).bytes.count } ?? 0,
        ]
        guard sizes.allSatisfy({ $0 <= limit }) else { throw .tooLarge }
    }

    /// Keys and strings of an object, at every depth; other values count with their JSON text.
    static func bytes(in value: JSONValue?) -> Int {
        guard let value, !value.isNull else { return 0 }
        if let text = value.utf8 { return text.count }
        if value.isObject {
            var sum = 0
            for (key, member) in value.members { sum += key.count + bytes(in: member) }
            return sum
        }
        if value.isArray {
            var sum = 0
            for element in value.elements { sum += bytes(in: element) }
            return sum
        }
        return JSONText(value).bytes.count
    }
}
