import SignalboxJSON

extension Catalogue {
    /// Includes a vendor that is only hinted at: its token is secret, whichever vendor the payload is read as.
    package func deviceTokens(in payload: borrowing PlatformPayload, matchedBy match: VendorMatch) -> [DeviceToken] {
        guard entries.indices.contains(match.entry), entries[match.entry].vendor == match.vendor else { return [] }
        var tokens: [DeviceToken] = []
        for path in entries[match.entry].fields.tokens {
            guard let key = path.lastKey else { continue }
            for value in payload.valuesEverywhere(at: path) {
                guard let text = value.utf8, !text.isEmpty else { continue }
                tokens.append(DeviceToken(key: key, text: Array(text)))
            }
        }
        return tokens
    }
}

extension CataloguePath {
    /// The key of the value at the path, or of the list that holds it.
    fileprivate var lastKey: [UInt8]? {
        for token in tokens.reversed() {
            if case .key(let key) = token { return key }
        }
        return nil
    }
}
