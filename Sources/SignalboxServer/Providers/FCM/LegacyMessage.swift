import SignalboxJSON

/// A request of FCM's legacy HTTP protocol (firebase.google.com, "Legacy HTTP server protocol"), checked.
struct LegacyMessage: Sendable {
    /// The addressees of a request.
    enum Addressee: Sendable, Equatable {
        /// A topic or a condition: one message, without a device.
        case group
        /// Devices: at least one, each with the error of its token.
        case devices([Device])

        /// Whether the message becomes a push for each of several devices.
        var isSeveral: Bool {
            if case .devices(let devices) = self { devices.count > 1 } else { false }
        }
    }

    struct Device: Sendable, Equatable {
        /// As sent; empty if the request has none.
        let token: String
        /// The `error` of its result; nil for a token in FCM's alphabet.
        let error: String?
    }

    /// A request that is answered with 400 and a text.
    struct Malformed: Error, Equatable { let text: String }

    let addressee: Addressee
    /// The topic of a message to one, without `/topics/`.
    let topic: String?
    /// The condition over topics of a message with one.
    let condition: String?
    /// `dry_run`: the sender asks for the checks alone.
    let isDryRun: Bool
    /// The error of the whole message, such as `MessageTooBig`; nil for one that FCM would accept.
    let error: String?
    /// The request without `registration_ids`, without its closing brace: `to` is added for each device. Empty for a
    /// request that is too large.
    private let shared: [UInt8]

    /// The most devices of a request.
    static let mostDevices = 1000
    /// The most bytes of a request as JSON without its addressees. `data` and `notification` may have 4096 bytes
    /// without quotes and escapes, the other members are names and options.
    static let largestShared = 32 * 1024
    /// The same for a request to several devices, each of which receives a copy.
    static let largestCopied = 8 * 1024

    /// Reads a request. `parser`: reset before; owns the values of the call. Throws for invalid JSON, a field of a
    /// wrong type, both `to` and `registration_ids`, and more than ``mostDevices``. Other faults are an ``error``,
    /// because their response has the status 200.
    init(_ body: [UInt8], with parser: JSONParser) throws(Malformed) {
        parser.reset()
        let root = try parser.parse(body) { _ in Malformed(text: "JSON_PARSING_ERROR: Unexpected token.") }
        guard root.isObject else { throw Malformed(text: "JSON_PARSING_ERROR: expected a JSON object.") }
        try Self.checkTypes(of: root)
        addressee = try Self.addressee(of: root)
        topic = root["to"]?.string.flatMap { $0.hasPrefix("/topics/") ? String($0.dropFirst(8)) : nil }
        condition = root["condition"]?.string
        isDryRun = root["dry_run"]?.bool == true
        var json = JSONWriter()
        json.beginObject()
        root.forEachMember { key, value in
            guard !key.elementsEqual("registration_ids".utf8), !key.elementsEqual("to".utf8) else { return }
            json.key(utf8: key)
            json.value(value)
        }
        let isTooLarge = json.bytes.count > (addressee.isSeveral ? Self.largestCopied : Self.largestShared)
        shared = isTooLarge ? [] : json.bytes
        error = Self.error(of: root, isToGroup: addressee == .group) ?? (isTooLarge ? "MessageTooBig" : nil)
    }

    /// The request for one device alone. An event names one device, so a multicast becomes one payload for each.
    func payload(for token: String) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: shared.count + token.utf8.count + 10)
        json.beginObject()
        json.member("to", token)
        json.endObject()
        let member = json.bytes.dropFirst().dropLast()
        return shared + (shared.count > 1 ? [0x2C] : []) + member + [0x7D]
    }

    /// Bytes of memory that the pushes to several devices take; 0 for one addressee, whose push is the request.
    var copiedBytes: Int {
        guard case .devices(let devices) = addressee, devices.count > 1 else { return 0 }
        return devices.count * ContentMemory.bytes(ofPush: shared.count)
    }

    // MARK: Checks

    /// Absent members and `null` pass; unknown members are not checked.
    private static func checkTypes(of root: JSONValue) throws(Malformed) {
        for key in ["to", "condition", "collapse_key", "priority", "restricted_package_name"] {
            try check(root.member(key), key, "string") { $0.isString }
        }
        for key in ["dry_run", "content_available", "mutable_content", "delay_while_idle"] {
            try check(root.member(key), key, "boolean") { $0.bool != nil }
        }
        for key in ["data", "notification"] { try check(root.member(key), key, "object") { $0.isObject } }
        try check(root["registration_ids"], "registration_ids", "array") { $0.isArray }
        try check(root["time_to_live"], "time_to_live", "number") { $0.double != nil }
    }

    /// `type`: the name of the type in the error text.
    private static func check(
        _ value: JSONValue?, _ key: String, _ type: String, _ isValid: (JSONValue) -> Bool
    ) throws(Malformed) {
        guard let value, !value.isNull, !isValid(value) else { return }
        throw Malformed(text: "Field \"\(key)\" must be a JSON \(type): \(JSONText(value).string.prefix(100))")
    }

    /// A request without an addressee, or with an empty list, has one device without a token: the response then has one
    /// `MissingRegistration`.
    private static func addressee(of root: JSONValue) throws(Malformed) -> Addressee {
        let to = root["to"]?.string
        if let list = root["registration_ids"], list.isArray {
            guard to == nil else {
                throw Malformed(text: "Must use either \"registration_ids\" field or \"to\", not both")
            }
            let tokens = list.elements.map { $0.string ?? "" }
            guard tokens.count <= mostDevices else {
                throw Malformed(
                    text: "Number of messages on bulk (\(tokens.count)) exceeds maximum allowed (\(mostDevices))")
            }
            return .devices(tokens.isEmpty ? [device("")] : tokens.map { device($0) })
        }
        guard let to else { return root["condition"]?.isString == true ? .group : .devices([device("")]) }
        return to.hasPrefix("/topics/") ? .group : .devices([device(to)])
    }

    private static func device(_ token: String) -> Device {
        if token.isEmpty { return Device(token: token, error: "MissingRegistration") }
        return Device(token: token, error: FCMMessage.isToken(token.utf8) ? nil : "InvalidRegistration")
    }

    /// The first fault, in the order of topic, keys, time to live and size; nil for none.
    private static func error(of root: JSONValue, isToGroup: Bool) -> String? {
        if let topic = root["to"]?.string, topic.hasPrefix("/topics/"), !FCMMessage.isTopic(topic.utf8.dropFirst(8)) {
            return "InvalidParameters"
        }
        if root["data"]?.members.contains(where: { FCMMessage.isReserved($0.key) }) == true { return "InvalidDataKey" }
        if let life = root["time_to_live"]?.double, life < 0 || life > Double(FCMMessage.longestLife) {
            return "InvalidTtl"
        }
        let bytes = FCMMessage.bytes(in: root["data"]) + FCMMessage.bytes(in: root["notification"])
        return bytes > (isToGroup ? FCMMessage.largestToTopic : FCMMessage.largest) ? "MessageTooBig" : nil
    }
}

extension LegacyMessage {
    /// The JSON of a request as a form: `registration_id` or `to`, `data.KEY`, and the options. A time to live that is
    /// not a number stays a string, so the check of types rejects it.
    static func json(of form: FormParameters) -> [UInt8] {
        .jsonObject { json in
            for (name, value) in form.all {
                switch name {
                case "registration_id", "to": json.member("to", value)
                case "collapse_key", "restricted_package_name", "priority", "condition":
                    json.key(name)
                    json.string(value)
                case "dry_run", "delay_while_idle":
                    json.key(name)
                    json.bool(value == "true" || value == "1")
                case "time_to_live":
                    json.key(name)
                    if let life = Int64(value) { json.integer(life) } else { json.string(value) }
                default: break
                }
            }
            let data = form.all.filter { $0.name.hasPrefix("data.") }
            if !data.isEmpty {
                json.object("data") { json in
                    for (name, value) in data {
                        json.key(String(name.dropFirst(5)))
                        json.string(value)
                    }
                }
            }
        }
    }
}
