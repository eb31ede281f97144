package import SignalboxJSON
package import SignalboxNotification

extension GatewayConfig {
    /// A client that sends payloads.
    package struct Source: Sendable, Equatable {
        /// Tokens, each of which identifies the source; empty for a source that its provider identities identify.
        package var bearer: [SecretReference] = []
        /// The vendor of all its payloads; nil to recognise each payload.
        package var vendor: VendorID?
        /// Nil to accept repeated events.
        package var dedupe: Dedupe?
        /// Its share of the provider endpoints.
        package var limits = SourceLimits()
        /// Its identities at the APNs endpoint; nil without any.
        package var apns: APNsSource?
        /// Its identities at the FCM endpoints; nil without any.
        package var fcm: FCM?
        /// Its access tokens at the Expo endpoints; empty without any.
        package var expo: [SecretReference] = []
        /// Forwarding of its pushes; nil if the gateway answers them.
        package var upstream: Upstream?
        /// Whether its devices may read explanations of in-app decisions.
        package var explain = false
        /// The rights of its clients; nil for all.
        package var may: Set<SourceRight>?
    }

    /// Answers repeats of a value that the source sent within a time window with the id of the first event. A repeat is
    /// accepted, but makes no event.
    package struct Dedupe: Sendable, Equatable {
        /// Leads into the event.
        package var key: JSONPointer
        /// From 1 second to 7 days.
        package var window: Duration
    }
}

// MARK: Options

extension GatewayConfig.Source {
    /// Names follow ``NameRule``, because paths and events contain them.
    static var type: OptionType<[SourceName: GatewayConfig.Source]> {
        OptionType.section(options).dictionary(by: .names("sources", upTo: ConfigBounds.sources)) { SourceName($0) }
    }

    /// Members that identify the clients of a source. One of them is required: a source without any would accept every
    /// client.
    private static let identities = ["auth", "apns", "fcm", "expo"]

    /// Requires at least one of ``identities``, and that a client can use it.
    private static let options = Section(GatewayConfig.Source(), rules: rules) {
        Option("auth", \.bearer, .auth("a source needs"), "Credentials of clients.")
        Option(
            "vendor", \.vendor, namedVendor,
            "The vendor of all payloads of the source, for vendors that payloads do not identify.")
        Option(
            "dedupe", \.dedupe, .section(GatewayConfig.Dedupe.options),
            "Makes an event only of the first of several payloads with an equal value within a time window.")
        Option(
            "limits", \.limits, .section(GatewayConfig.SourceLimits.options),
            "Limits of the source at the provider endpoints.")
        Option(
            "apns", \.apns, .section(GatewayConfig.APNsSource.options),
            "Identities of the source at the APNs endpoint, and its topics.")
        Option(
            "fcm", \.fcm, .section(GatewayConfig.FCM.options),
            "Identities of the source at the endpoints that are compatible with FCM.")
        Option(
            "expo", \.expo, expoTokens,
            "Identities of the source at the endpoints that are compatible with Expo's push service.")
        Option(
            "upstream", \.upstream, .section(GatewayConfig.Upstream.options),
            "Forwards pushes of the source to the real push service.")
        Option(
            "explain", \.explain, .flag,
            "Answers `explain` of in-app triggers and slots. An explanation tells what the user has seen on all devices."
        )
        Option(
            "may", \.may, rights,
            "The rights of the source's clients: `notifications` sends payloads, `interactions` reports taps, `inapp` asks for in-app messages, `categories` reads button sets. Default: all."
        )
    } check: { source, value, reader in
        guard identities.contains(where: { !reader.lacks($0, in: value) }) else {
            reader.note(value, GatewayConfig.needsToken("a source needs") + ", or an identity at a provider endpoint")
            return
        }
        // Projects restrict the source; they do not identify its clients.
        let isOnlyFCM = identities.allSatisfy { $0 == "fcm" || reader.lacks($0, in: value) }
        if isOnlyFCM, let fcm = source.fcm, !fcm.identifies {
            reader.note(value, "no client can be this source; add \"auth\", or \"serviceAccounts\" to \"fcm\"")
        }
        checkForwarding(source, value, &reader)
        checkRights(source, value, &reader)
    }

    /// Identities at provider endpoints serve no other purpose than to send. Without `notifications`, a client that
    /// such an identity proves could do nothing.
    private static func checkRights(_ source: GatewayConfig.Source, _ value: JSONValue, _ reader: inout ConfigReader) {
        guard let may = source.may, !may.isEmpty, !may.contains(.notifications), let member = value.member("may") else {
            return
        }
        guard let identity = identities.dropFirst().first(where: { value.member($0) != nil }) else { return }
        reader.note(
            member,
            "clients that \"\(identity)\" identifies can only send; add \"notifications\", or use another source for "
                + "\"\(identity)\"")
    }

    /// An empty array is an error: such a source could do nothing.
    private static let rights = OptionType<SourceRight>.choice("right").set(
        of: "rights", 1...SourceRight.allCases.count,
        orElse: "this must be an array of 1 to \(SourceRight.allCases.count) rights; leave it out to permit everything"
    ) {
        "the right \"\($0.rawValue)\" is listed twice; remove one"
    }.map { Set($0) }

    /// A push can be forwarded only with a credential that the push service accepts. Concerns the mode `tee` only,
    /// which forwards every push.
    private static func checkForwarding(
        _ source: GatewayConfig.Source, _ value: JSONValue, _ reader: inout ConfigReader
    ) {
        guard let upstream = value.member("upstream"), source.upstream?.mode == .tee else { return }
        if let apns = source.apns, !apns.certificates.isEmpty, apns.keys.isEmpty, apns.secrets.isEmpty {
            reader.note(
                upstream,
                "pushes of client certificates cannot be forwarded, because that requires their private keys; "
                    + "identify the source by \"keys\" of provider tokens")
        }
        if !source.expo.isEmpty {
            reader.note(
                upstream, "pushes to Expo cannot be forwarded; use mode \"capture\", or another source for \"expo\"")
        }
    }

    /// The part of the check that a schema can express.
    private static let rules: JSONNode = ["anyOf": .array(identities.map { ["required": .strings([$0])] })]

    /// Vendors whose payloads carry no evidence of their own.
    private static let namedVendor = OptionType<VendorID>(
        TypeInfo(
            Vendors.namedBySource.map { "`\($0)`" }.joined(separator: ", "), ["enum": .strings(Vendors.namedBySource)])
    ) { value, reader in
        guard let name = reader.text(value) else { return nil }
        guard !Vendors.namedBySource.contains(name) else { return VendorID(name) }
        reader.note(
            value,
            Vendors.names.contains(name)
                ? "payloads of \"\(name)\" are recognised by themselves; leave out \"vendor\""
                : "unknown source vendor \"\(name)\""
                    + ConfigReader.suggestion(for: name, among: Vendors.namedBySource))
        return nil
    }
}

extension GatewayConfig.Dedupe {
    private static let missing =
        "this needs a \"key\", such as \"/data/campaign/messageId\", and a \"window\", such as \"10m\""

    /// Both are required. An event without the value is never a repeat.
    static let options = Section(GatewayConfig.Dedupe(key: .whole, window: .zero)) {
        Option("key", \.key, .pointer, required: missing, "The value to compare, in the event.")
        Option(
            "window", \.window, .duration(from: "1s", to: "7d", example: "10m"), required: missing, "The time window.")
    }
}

extension JSONPointer {
    /// Leads to the whole event.
    fileprivate static var whole: JSONPointer {
        guard let pointer = JSONPointer("") else { preconditionFailure("The empty pointer is valid.") }
        return pointer
    }
}
