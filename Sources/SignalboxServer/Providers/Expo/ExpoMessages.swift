import Foundation
import SignalboxJSON

/// The messages of one request to Expo's push service, one for each recipient
/// (docs.expo.dev, "Send notifications with the Expo Push Service").
struct ExpoMessages: Sendable {
    /// A message to one recipient.
    struct Message: Sendable, Equatable {
        /// As sent: not necessarily a token.
        let token: String
        /// The message with this recipient alone. As sent, if the request is only this message; empty with an error.
        let payload: [UInt8]
        /// Nil for a message that Expo would accept.
        let error: ExpoError?
    }

    /// In the order of the request, and of the recipients of each message.
    let all: [Message]
    /// Whether the request is a message to one recipient without lists: so is its response.
    let isSingle: Bool

    /// Bytes of memory that the pushes to several recipients take; 0 for one recipient.
    var copiedBytes: Int {
        guard all.count > 1 else { return 0 }
        return all.reduce(0) { $0 + ContentMemory.bytes(ofPush: $1.payload.count) }
    }

    /// The most recipients of a request.
    static let most = 100
    /// The most bytes of a message.
    static let largest = 4096

    /// Reads a request. `parser`: reset before; owns the values of the call. Throws an error of the whole request. Its
    /// causes are invalid JSON, a field of a wrong type, and more than ``most`` recipients.
    init(_ body: [UInt8], with parser: JSONParser) throws(ExpoError) {
        parser.reset()
        let root = try parser.parse(body) { _ in ExpoError.invalid("The request body is not valid JSON.") }
        isSingle = root.isObject && root["to"]?.isString == true
        let messages = root.isArray ? Array(root.elements) : [root]
        let count = messages.reduce(0) { sum, message in
            sum + (message["to"].map { $0.isArray ? $0.elements.reduce(0) { count, _ in count + 1 } : 1 } ?? 1)
        }
        guard count <= Self.most else {
            throw ExpoError(
                status: 400, code: "PUSH_TOO_MANY_NOTIFICATIONS",
                message: "You can send a maximum of \(Self.most) notifications per request (received \(count)); "
                    + "divide your requests.")
        }
        var all: [Message] = []
        for (position, message) in messages.enumerated() {
            let path = root.isArray ? "[\(position)]" : "value"
            try Self.check(message, path)
            let isTooLarge = Self.isTooLarge(message)
            for token in try Self.recipients(of: message, path) {
                let error = Self.error(of: token, isTooLarge: isTooLarge)
                let payload = error != nil ? [] : isSingle ? body : Self.payload(message, to: token)
                all.append(Message(token: token, payload: payload, error: error))
            }
        }
        self.all = all
    }

    /// The texts of `to`, at least one. Throws for other types and an empty list. `path`: of the message, for the
    /// error.
    private static func recipients(of message: JSONValue, _ path: String) throws(ExpoError) -> [String] {
        guard let to = message["to"] else { throw .invalid("\"\(path).to\" is required.") }
        if let token = to.string { return [token] }
        let tokens = to.elements.compactMap(\.string)
        guard to.isArray, !tokens.isEmpty, tokens.count == to.elements.reduce(0, { count, _ in count + 1 }) else {
            throw .invalid("\"\(path).to\" must be a push token, or an array of push tokens.")
        }
        return tokens
    }

    /// The types of the fields that Expo documents. `null` counts as absent. Throws for the first wrong one.
    private static func check(_ message: JSONValue, _ path: String) throws(ExpoError) {
        guard message.isObject else { throw .invalid("\"\(path)\" must be an object.") }
        for key in ["title", "subtitle", "body", "channelId", "categoryId", "interruptionLevel"] {
            guard let value = message.member(key), !value.isNull, !value.isString else { continue }
            throw .invalid("\"\(path).\(key)\" must be a string.")
        }
        for key in ["ttl", "expiration", "badge"] {
            guard let value = message.member(key), !value.isNull, value.double == nil else { continue }
            throw .invalid("\"\(path).\(key)\" must be a number.")
        }
        if let data = message["data"], !data.isNull, !data.isObject {
            throw .invalid("\"\(path).data\" must be an object.")
        }
        if let priority = message["priority"], !priority.isNull,
            !["default", "normal", "high"].contains(priority.string ?? "")
        {
            throw .invalid("\"\(path).priority\" must be one of default, normal, high.")
        }
    }

    /// The error of one ticket. Nil for a message that Expo would accept. A malformed token is reported before the
    /// size.
    private static func error(of token: String, isTooLarge: Bool) -> ExpoError? {
        guard isToken(token) else { return .notRegistered(token) }
        guard isTooLarge else { return nil }
        return .ofTicket("MessageTooBig", "The notification payload is larger than \(largest) bytes.")
    }

    /// Whether a message without its recipients is larger than Expo accepts.
    private static func isTooLarge(_ message: JSONValue) -> Bool {
        JSONText(message).bytes.count - (message["to"].map { JSONText($0).bytes.count } ?? 0) > largest
    }

    /// `ExponentPushToken[…]`, `ExpoPushToken[…]`, or the UUID of an early SDK (expo/expo-server-sdk-node,
    /// `Expo.isExpoPushToken`). Every such token counts as registered.
    static func isToken(_ token: String) -> Bool {
        for prefix in ["ExponentPushToken[", "ExpoPushToken["] where token.hasPrefix(prefix) {
            let name = token.dropFirst(prefix.count).dropLast()
            return token.hasSuffix("]") && (1...200).contains(name.utf8.count)
                && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        }
        // `UUID` accepts the canonical form only, in either case.
        return UUID(uuidString: token) != nil
    }

    /// The message with `to` first, then its other members in their order.
    private static func payload(_ message: JSONValue, to token: String) -> [UInt8] {
        .jsonObject { json in
            json.member("to", token)
            message.forEachMember { key, value in
                guard !key.elementsEqual("to".utf8) else { return }
                json.key(utf8: key)
                json.value(value)
            }
        }
    }
}
