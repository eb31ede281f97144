import Foundation
import SignalboxEgress
package import SignalboxJSON
package import SignalboxNotification
import SignalboxStore

/// Turns one payload into an event, without network or disk: parse, recognise the platform and the vendor, read,
/// write. A value without mutable state: many tasks use one normalizer, each with a parser of its own.
package struct Normalizer: Sendable {
    /// Maximum size of a payload in bytes. Push services accept 4 to 5 KiB; in-app content and dumps are larger.
    package static let payloadLimit = 4 * 1024 * 1024
    /// Maximum nesting of a payload. Deeper payloads are rejected as `tooDeep`, which also bounds recursion over a
    /// payload.
    package static let depthLimit = 128

    /// Bytes of the digest that names a category: enough to avoid collisions.
    private static let categoryDigest = 16

    /// The key of a request's own token. Vendor data may contain a copy of that token.
    private static let targetKey = Array("token".utf8)

    let chain: VendorChain
    private let gateway: String
    /// Hashes the device tokens of payloads.
    package let tokens: TokenHash
    private let ids: EventIDSource
    private let keepsPayloads: Bool
    private let keeping: PayloadKeeping?
    private let showsPayloads: Bool
    private let registersMessages: Bool
    private let mediaStatus: Media.Status
    private let actions: ActionTypes
    private let categories: CategoryResolution
    private var observation: Observation?

    /// `gateway`: the name in every event's `source`. `keepsPayloads`: events carry their unchanged payloads.
    /// `keeping`: they carry them for operators, too. `showsPayloads`: events carry APNs payloads as apps should show
    /// them. `registersMessages`: events carry the in-app messages of their payloads. `mediaStatus`: the status of
    /// files that are not downloaded. `actions`: settings of the config. `categories`: categories that the app
    /// contains. `observation`: decides which payloads operators see. The defaults suit tests; ``GatewayPlan`` passes
    /// the settings of the config.
    package init(
        chain: VendorChain, gateway: String, tokens: TokenHash, ids: EventIDSource = EventIDSource(),
        keepsPayloads: Bool = false, keeping: PayloadKeeping? = nil, showsPayloads: Bool = false,
        registersMessages: Bool = false, mediaStatus: Media.Status = .pending,
        actions: ActionTypes = ActionTypes(), categories: StaticCategories = StaticCategories(),
        observation: Observation? = nil
    ) {
        self.chain = chain
        self.observation = observation
        self.gateway = gateway
        self.tokens = tokens
        self.ids = ids
        self.keepsPayloads = keepsPayloads || keeping != nil
        self.keeping = keeping
        self.showsPayloads = showsPayloads
        self.registersMessages = registersMessages
        self.mediaStatus = mediaStatus
        self.actions = actions
        self.categories = CategoryResolution(statics: categories) {
            hexadecimal(sha256($0).prefix(Self.categoryDigest))
        }
    }

    /// The same normalizer for previews, whose events operators do not see: they use up no sample of the live view.
    package var forPreviews: Normalizer {
        var copy = self
        copy.observation = nil
        return copy
    }

    /// Limits of ``makeParser()`` and of the payload pool.
    static var payloadLimits: JSONParser.Limits {
        var limits = JSONParser.Limits()
        limits.bytes = payloadLimit
        limits.depth = depthLimit
        return limits
    }

    /// A parser with the limits of payloads. A parser is not thread-safe; a task uses one at a time.
    package static func makeParser() -> JSONParser { JSONParser(limits: payloadLimits) }

    /// The event of one payload. `parser`: from ``makeParser()``. Throws a ``Rejection`` if the payload is not a JSON
    /// object within the limits. Problems inside the object become warnings of the event.
    package func event(
        _ payload: UnsafeBufferPointer<UInt8>, as reception: Reception, at place: PayloadPosition,
        with parser: JSONParser
    ) throws(Rejection) -> Event {
        var json = JSONWriter()
        return try event(
            RecordedPayload(text: payload, place: place), in: envelope(of: reception), with: parser, by: &json)
    }

    /// The common attributes of all events of one reception. Reuse it for all payloads that arrived together.
    package func envelope(of reception: Reception) -> CloudEventEnvelope {
        envelope(of: reception, opening: opening(for: reception.source))
    }

    /// The same with an opening that was made before.
    func envelope(of reception: Reception, opening: CloudEventEnvelope.Opening) -> CloudEventEnvelope {
        CloudEventEnvelope(opening, reception: reception)
    }

    /// The beginning of all events of a source. Reuse it for its receptions.
    func opening(for source: SourceName) -> CloudEventEnvelope.Opening {
        CloudEventEnvelope.Opening(gateway: gateway, source: source)
    }

    /// The event of a recorded payload. `id`: the event's id; nil for a new one. `json`: a writer whose memory is
    /// reused. The event's bytes, its expiry and its schedule are final: later stages only select or redact them.
    /// Throws the same rejections as ``event(_:as:at:with:)``.
    package func event(
        _ payload: RecordedPayload, in envelope: CloudEventEnvelope, id: EventID? = nil, with parser: JSONParser,
        by json: inout JSONWriter
    ) throws(Rejection) -> Event {
        var notification = PushNotification(platform: .unknown)
        let reception = envelope.reception
        let recognised = try read(payload, of: reception, with: parser, into: &notification)
        let time = payload.time?.date ?? reception.receivedAt
        let messages = registersMessages ? notification.registrations(arrivedAt: time, allowing: actions) : []
        let expiry = payload.push?.expiration.expiry ?? recognised.expiry(receivedAt: reception.receivedAt)
        let end = Self.date(notification.schedule?.notAfter)
        let id = id ?? ids.next(at: time)
        json.removeAll()
        json.reserve(2000)
        envelope.write(notification, id: id, into: &json)
        return Event(
            id: id, source: reception.source, acceptedAt: reception.receivedAt, vendor: notification.vendor,
            kind: notification.kind, warnings: notification.warnings.map(\.code), body: json.bytes,
            payload: keepsPayloads ? Array(payload.text) : nil, keeping: keeping,
            shown: showsPayloads ? shown(recognised, of: notification, as: payload.push) : nil,
            category: notification.category == nil ? nil : categories.definition(in: notification),
            notBefore: Self.date(notification.schedule?.notBefore),
            notAfter: Self.end(end, expiry, at: reception.receivedAt), messages: messages,
            sampling: observation?.sampling(payload.text, of: notification.vendor) ?? .undecided)
    }

    /// The earlier end of the schedule and of the push service. A push that has one attempt keeps it while its schedule
    /// lasts.
    private static func end(_ schedule: Date?, _ expiry: Date?, at now: Date) -> Date? {
        guard let schedule else { return expiry }
        guard expiry == .afterFirstAttempt else { return min(schedule, expiry ?? schedule) }
        return schedule > now ? expiry : schedule
    }

    /// The payload as an app should show it, with its tokens hashed; nil if APNs does not carry it.
    private func shown(
        _ payload: borrowing PlatformPayload, of notification: PushNotification, as push: ProviderPush?
    ) -> JSONText? {
        guard var shown = ShownPayload(payload, of: notification)?.text else { return nil }
        if let mask = push?.requestTokens?.mask { shown = mask.masked(shown) }
        return TokenMask(notification.deviceTokens, hashedBy: tokens)?.masked(shown) ?? shown
    }

    /// Device tokens that a request names as its addressees. Empty texts are left out.
    func targets(_ tokens: [[UInt8]]) -> [DeviceToken] {
        tokens.filter { !$0.isEmpty }.map { DeviceToken(key: Self.targetKey, text: $0) }
    }

    /// Nil for a missing or malformed time.
    static func date(_ text: String?) -> Date? {
        guard var text, let time = text.withUTF8({ Timestamp(iso8601: $0) }) else { return nil }
        return time.date
    }

    /// Reads a recorded payload into an empty notification and writes its event, without the values that only a queue
    /// needs. Does not write if it throws. `id`: the event's id; nil for a new one. Used for runs that print events.
    /// A shown payload, a stored payload and a schedule are not computed.
    package func write(
        _ payload: RecordedPayload, in envelope: CloudEventEnvelope, id: EventID? = nil, with parser: JSONParser,
        as notification: inout PushNotification, into json: inout JSONWriter
    ) throws(Rejection) {
        _ = try read(payload, of: envelope.reception, with: parser, into: &notification)
        let time = payload.time?.date ?? envelope.reception.receivedAt
        // For their warnings.
        if registersMessages { _ = notification.registrations(arrivedAt: time, allowing: actions) }
        envelope.write(notification, id: id ?? ids.next(at: time), into: &json)
    }

    /// Reads a payload into a notification. Returns the platform payload, valid until the parser's next text. The
    /// order matters: the tokens are hashed before the categories are resolved and the actions are checked.
    private func read(
        _ payload: RecordedPayload, of reception: Reception, with parser: JSONParser,
        into notification: inout PushNotification
    ) throws(Rejection) -> PlatformPayload {
        let recognised = try recognise(payload.text, at: payload.place, form: payload.push?.form, with: parser)
        notification.readsMessages = registersMessages
        if let vendor = reception.vendor {
            chain.read(recognised, as: vendor, into: &notification)
        } else {
            chain.read(recognised, into: &notification)
        }
        let token = payload.token ?? recognised.target.token?.utf8.map({ Array($0) })
        if let token, !token.isEmpty {
            // A token of APNs is hexadecimal, so a copy in the payload may have letters of the other case.
            let isHexadecimal =
                payload.push?.platform == .apns || recognised.platform == .apns && token.allSatisfy(\.isHexDigit)
            notification.deviceTokens.append(.init(key: Self.targetKey, text: token, ignoresCase: isHexadecimal))
        }
        recognised.target.forEachToken { key, text in
            let key = key.withUTF8Buffer { Array($0) }
            if key == Self.targetKey, let token, token.elementsEqual(text) { return }
            notification.deviceTokens.append(.init(key: key, text: Array(text)))
        }
        RegistrationTokens.append(from: payload.text, to: &notification.deviceTokens)
        // Before the payload's own tokens, which may be a part of a longer one of the request.
        if let tokens = payload.push?.requestTokens { notification.maskTokens(with: tokens.mask) }
        let mask = TokenMask(notification.deviceTokens, hashedBy: tokens)
        if let mask { notification.maskTokens(with: mask) }
        // Before the actions are checked, because it may reorder buttons.
        if notification.category != nil { categories.resolve(&notification) }
        notification.checkActions(with: actions)
        if let token, !token.isEmpty {
            notification.target = notification.target ?? .init()
            notification.target?.token = tokens.name(of: token)
        }
        if let push = payload.push {
            notification.apply(push)
            if let mask { notification.maskTransport(with: mask) }
        }
        for position in notification.media.indices { notification.media[position].status = mediaStatus }
        return recognised
    }

    /// Recognises the push service of a payload. The result is valid until the parser's next text. `form`: of the
    /// request that brought the payload, if it is known. Throws a ``Rejection`` for a text that is not JSON, exceeds
    /// the limits, or is not an object.
    package func recognise(
        _ payload: UnsafeBufferPointer<UInt8>, at place: PayloadPosition, form: RequestForm? = nil,
        with parser: JSONParser
    ) throws(Rejection) -> PlatformPayload {
        parser.reset()
        let root = try parser.parse(payload) { Rejection($0, in: payload, at: place) }
        do throws(PlatformError) {
            return try Platforms.recognise(root, size: payload.count, form: form, parser: parser)
        } catch {
            throw Rejection(.notAnObject, at: place, "This is JSON but not an object: a payload is a JSON object.")
        }
    }
}

extension Rejection {
    /// Describes a JSON error, with the position inside the payload if it is known. The text tells the sender how to
    /// correct the payload. It does not repeat any part of the payload. If the payload is not the first of its input,
    /// the text says that the position is that in the payload, because `place` has the one in the input.
    package init(_ error: JSONError, in payload: UnsafeBufferPointer<UInt8>, at place: PayloadPosition) {
        let position = error.offset.map { TextPosition(offset: $0, in: Array(payload)) }
        let whose = place.offset > 0 ? " of the payload" : ""
        let where_ = position.map { " at line \($0.line), column \($0.column)\(whose)" } ?? ""
        switch error.reason {
        case .empty: self.init(.empty, at: place, "The payload is empty: send a JSON object.")
        case .invalidUTF8:
            self.init(.invalidUTF8, at: place, "The payload is not valid UTF-8\(where_): encode it as UTF-8.")
        case .invalidNumber:
            self.init(
                .invalidNumber, at: place,
                "A number\(where_) is malformed or does not fit in 64 bits: send it as a string.")
        case .tooDeep:
            self.init(
                .tooDeep, at: place, "The payload is nested more than \(Normalizer.depthLimit) levels deep: flatten it."
            )
        case .tooLarge:
            self.init(
                .tooLarge, at: place,
                "The payload is larger than \(Normalizer.payloadLimit) bytes, which no push service accepts.")
        case .unclosedString: self.init(.truncated, at: place, "The payload ends inside a string: send all of it.")
        case .incomplete: self.init(.truncated, at: place, "The payload ends before it is complete: send all of it.")
        case .invalidString:
            self.init(
                .notJSON, at: place,
                "A string\(where_) contains a raw control character or an invalid escape: escape it.")
        case .syntax, .tooManyDocuments, .outOfMemory:
            self.init(
                .notJSON, at: place,
                position == nil
                    ? "This is not JSON: send a JSON object." : "This is not JSON\(where_): correct it there.")
        }
    }
}
