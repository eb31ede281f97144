import SignalboxJSON

/// The messages of one request to Expo's push service, one for each recipient
/// (docs.expo.dev, "Send notifications with the Expo Push Service").
struct ExpoMessages: Sendable {
    /// A message to one recipient.
    struct Message: Sendable, Equatable {
        let token: String
        /// The message with this recipient alone. As sent, if the request is only this message.
        let payload: [UInt8]
        /// Nil for a message that Expo would accept.
        let error: ExpoError?
    }

    /// In the order of the request, and of the recipients of each message.
    let all: [Message]
    /// Whether the request is a message to one recipient without lists: so is its response.
    let isSingle: Bool

    /// The most recipients of a request.
    static let most = 100
    /// The most bytes of a message.
    static let largest = 4096

    /// Reads a request. `parser`: reset before; owns the values of the call. Throws an error of the whole request.
    init(_ body: [UInt8], with parser: JSONParser) throws(ExpoError) {
        parser.reset()
        let root: JSONValue
        do throws(JSONError) { root = try parser.parse(body) } catch {
            throw .invalid("The request body is not valid JSON.")
        }
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
            for token in try Self.recipients(of: message, path) {
                all.append(
                    Message(
                        token: token, payload: isSingle ? body : Self.payload(message, to: token),
                        error: Self.error(of: message, to: token)))
            }
        }
        self.all = all
    }

    private static func recipients(of message: JSONValue, _ path: String) throws(ExpoError) -> [String] {
        guard let to = message["to"] else { throw .invalid("\"\(path).to\" is required.") }
        if let token = to.string { return [token] }
        let tokens = to.elements.compactMap(\.string)
        guard to.isArray, !tokens.isEmpty, tokens.count == to.elements.reduce(0, { count, _ in count + 1 }) else {
            throw .invalid("\"\(path).to\" must be a push token, or an array of push tokens.")
        }
        return tokens
    }

    /// The types of the fields that Expo documents.
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

    /// The error of one ticket.
    private static func error(of message: JSONValue, to token: String) -> ExpoError? {
        guard isToken(token) else {
            return ExpoError(
                status: 200, code: "DeviceNotRegistered",
                message: "\"\(token.prefix(200))\" is not a registered push notification recipient")
        }
        let bytes = JSONText(message).bytes.count - (message["to"].map { JSONText($0).bytes.count } ?? 0)
        guard bytes > largest else { return nil }
        return ExpoError(
            status: 200, code: "MessageTooBig",
            message: "The notification payload is larger than \(largest) bytes.")
    }

    /// `ExponentPushToken[…]` and `ExpoPushToken[…]`, in which the gateway recognises a device token without a key
    /// (`Arrival.expoRecipient`). Every such token counts as registered. Rejects the UUIDs of early SDKs.
    static func isToken(_ token: String) -> Bool {
        for prefix in ["ExponentPushToken[", "ExpoPushToken["] where token.hasPrefix(prefix) {
            let name = token.dropFirst(prefix.count).dropLast()
            return token.hasSuffix("]") && (1...200).contains(name.utf8.count)
                && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        }
        return false
    }

    private static func payload(_ message: JSONValue, to token: String) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("to", token)
        message.forEachMember { key, value in
            guard !key.elementsEqual("to".utf8) else { return }
            json.key(utf8: key)
            json.value(value)
        }
        json.endObject()
        return json.bytes
    }
}

/// An error of Expo's push service, of a request or of a ticket.
struct ExpoError: Error, Equatable, Sendable {
    /// Of a request; 200 for an error of a ticket.
    let status: Int
    let code: String
    let message: String
    /// Whether the same request may succeed later.
    var isTransient = false

    static func invalid(_ message: String) -> ExpoError {
        ExpoError(status: 400, code: "VALIDATION_ERROR", message: message)
    }

    static let unauthorized = ExpoError(
        status: 401, code: "UNAUTHORIZED", message: "The bearer token is missing or invalid.")
    static let foreignPage = ExpoError(status: 403, code: "FORBIDDEN", message: GoogleError.foreignPage.message)
    static let tooManyRequests = ExpoError(
        status: 429, code: "TOO_MANY_REQUESTS", message: "The source sends too many requests; try again later.",
        isTransient: true)
    static let notFound = ExpoError(status: 404, code: "NOT_FOUND", message: "The requested resource was not found.")
    static let unavailable = ExpoError(
        status: 503, code: "SERVICE_UNAVAILABLE", message: "The service is currently unavailable.", isTransient: true)

    static func methodNotAllowed(_ method: String) -> ExpoError {
        ExpoError(
            status: 405, code: "METHOD_NOT_ALLOWED",
            message: "The method \(method.prefix(20)) is not supported; use POST.")
    }

    static func tooLarge(limit: Int) -> ExpoError {
        ExpoError(
            status: 413, code: "PAYLOAD_TOO_LARGE",
            message: "The request entity is damaged or larger than \(limit) bytes.")
    }

    /// The response to a whole request.
    var reply: ProviderReply {
        var reply = ProviderReply.json(status: status) { json in
            json.array("errors", [self]) { json, error in
                json.object { json in
                    json.member("code", error.code)
                    json.member("message", error.message)
                    json.member("isTransient", error.isTransient)
                }
            }
        }
        if isTransient { reply.headers.append(.init(name: "retry-after", value: "5")) }
        if status == 405 { reply.headers.append(.init(name: "allow", value: "POST")) }
        return reply
    }

    /// The members of a ticket.
    func writeTicket(_ token: String, into json: inout JSONWriter) {
        json.member("status", "error")
        json.member("message", message)
        json.key("details")
        json.object { json in
            json.member("error", code)
            json.member("expoPushToken", token)
        }
    }
}
