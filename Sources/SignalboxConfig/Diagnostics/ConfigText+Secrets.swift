import SignalboxJSON

/// Excerpts of a config appear on terminals and in screenshots, so possible secrets are hidden in them.
extension ConfigText {
    /// A copy of the text for display. Possible secrets are values that mistakes mark as such, and those that
    /// ``SecretScan`` finds, except a value that the message of its own mistake quotes: its option has no secret,
    /// although the key may suggest one. `file`: index of this text in the config.
    func hidingSecrets(of mistakes: [ConfigMistake], in file: Int) -> ConfigText {
        let own = mistakes.filter { $0.file == file && $0.place != nil }
        let quoted = own.filter { !$0.mayBeSecret && isQuoted(by: $0) }
        var shown = SecretScan(bytes, except: Set(quoted.compactMap { $0.place?.lowerBound })).shown
        for place in own.filter(\.mayBeSecret).compactMap({ value(at: $0.place) }) {
            for position in place where !SecretScan.isSeparator(shown[position]) {
                shown[position] = UInt8(ascii: "*")
            }
        }
        return ConfigText(name: name, bytes: shown)
    }

    /// Whether a message quotes the string at the place of its mistake.
    private func isQuoted(by mistake: ConfigMistake) -> Bool {
        guard let place = mistake.place, place.upperBound <= bytes.count, place.count > 2,
            place.count <= mistake.message.utf8.count, bytes[place.lowerBound] == UInt8(ascii: "\"")
        else { return false }
        return mistake.message.contains(String(decoding: bytes[place], as: UTF8.self))
    }

    /// The whole value at the place of a mistake, or after it if it is the place of a key. Nil for a place outside of
    /// the text.
    private func value(at place: Range<Int>?) -> Range<Int>? {
        guard let place, bytes.indices.contains(place.lowerBound), place.upperBound <= bytes.count else { return nil }
        guard let colon = bytes[place.upperBound...].firstIndex(where: { $0 > 0x20 }),
            bytes[colon] == UInt8(ascii: ":")
        else { return JSONPosition.whole(from: place.lowerBound, in: bytes) }
        let value = bytes[(colon + 1)...].firstIndex { $0 > 0x20 }
        return value.map { JSONPosition.whole(from: $0, in: bytes) }
    }
}
