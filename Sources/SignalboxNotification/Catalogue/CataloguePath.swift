import SignalboxJSON

/// Where a vendor puts something: a JSON Pointer among the vendor's keys, `/custom/u`.
///
/// A place may stand in front: `apns:/title` looks only beside `aps`, `fcm:/title` only in FCM's data, `payload:/to` in
/// the payload as it came. A token `*` means every member or element; `{i}` in a token counts up. A string on the way
/// that holds JSON text is opened, one for each path.
struct CataloguePath: Sendable, Equatable {
    enum Place: String, Sendable {
        case anywhere, apns, fcm, payload
    }

    enum Token: Sendable, Equatable {
        case key([UInt8])
        case each
        /// What stands before and behind the number.
        case counted([UInt8], [UInt8])
    }

    let text: String
    let place: Place
    /// At least one.
    let tokens: [Token]

    /// Nil for what is no path.
    init?(_ text: String) {
        self.text = text
        var pointer = Substring(text)
        var place = Place.anywhere
        if let colon = text.firstIndex(of: ":"), let slash = text.firstIndex(of: "/"), colon < slash {
            guard let named = Place(rawValue: String(text[..<colon])), named != .anywhere else { return nil }
            place = named
            pointer = text[text.index(after: colon)...]
        }
        guard pointer.hasPrefix("/"), pointer.count > 1 else { return nil }
        self.place = place
        tokens = pointer.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { Token($0) }
    }

    private init(_ text: String, _ place: Place, _ tokens: [Token]) {
        self.text = text
        self.place = place
        self.tokens = tokens
    }

    /// The path of its first tokens.
    func beginning(_ length: Int) -> CataloguePath { CataloguePath(text, place, Array(tokens.prefix(length))) }

    /// The key that a payload must have for this path to lead anywhere; nil when the path begins with no certain one.
    var firstKey: [UInt8]? {
        if case .key(let key) = tokens[0] { key } else { nil }
    }

    var isCounted: Bool {
        tokens.contains { token in
            if case .counted = token { true } else { false }
        }
    }
}

extension CataloguePath.Token {
    fileprivate init(_ text: Substring) {
        let plain = text.replacing("~1", with: "/").replacing("~0", with: "~")
        if plain == "*" {
            self = .each
        } else if let number = plain.firstRange(of: "{i}") {
            self = .counted(Array(plain[..<number.lowerBound].utf8), Array(plain[number.upperBound...].utf8))
        } else {
            self = .key(Array(plain.utf8))
        }
    }
}

extension CataloguePath.Place {
    /// True when a vendor's keys in an object of such a service may be meant. Envelopes of no service are taken for any.
    func admits(_ layer: VendorFields.Reserved) -> Bool {
        switch (self, layer) {
        case (.anywhere, _), (.apns, .apns), (.fcm, .fcm), (.apns, .none), (.fcm, .none): true
        case (.apns, .fcm), (.fcm, .apns), (.payload, _): false
        }
    }
}
