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
        Self.hideChatPaths(in: &shown)
        for place in secretURLs { hidePath(of: place, in: &shown) }
        for place in own.filter(\.mayBeSecret).compactMap({ value(at: $0.place) }) {
            for position in place where !SecretScan.isSeparator(shown[position]) {
                shown[position] = UInt8(ascii: "*")
            }
        }
        return ConfigText(name: name, bytes: shown)
    }

    /// The domains of chat services whose URLs grant access by themselves.
    private static let chats = [
        "hooks.slack.com", "hooks.slack-gov.com", "discord.com", "discordapp.com", "webhook.office.com",
        "logic.azure.com", "powerplatform.com",
    ]

    /// Replaces the paths and queries of URLs of chat services by asterisks, wherever they are in the text.
    private static func hideChatPaths(in text: inout [UInt8]) {
        var position = 0
        while let mark = text[position...].firstIndex(of: UInt8(ascii: ":")) {
            position = mark + 1
            guard text[position...].starts(with: "//".utf8) else { continue }
            let start = position + 2
            let end = text[start...].firstIndex { $0 <= 0x20 || "/?#\"".utf8.contains($0) } ?? text.count
            let authority = String(decoding: text[start..<end], as: UTF8.self).lowercased()
            let host = "." + (authority.split(separator: "@").last ?? "").prefix { $0 != ":" }
            position = end
            guard chats.contains(where: { host.hasSuffix("." + $0) }) else { continue }
            position = text[end...].firstIndex { $0 <= 0x20 || $0 == UInt8(ascii: "\"") } ?? text.count
            for place in end..<position where text[place] != UInt8(ascii: "/") { text[place] = UInt8(ascii: "*") }
        }
    }

    /// The `url` of each destination whose URL grants access by itself, also that of a service with its own domain.
    /// None in a text that is not JSON.
    private var secretURLs: [Range<Int>] {
        guard let place = JSONPosition(of: "/destinations", in: bytes), let key = place.key,
            isKey(key, "destinations")
        else { return [] }
        return members(from: place.value.lowerBound).flatMap { _, destination -> [Range<Int>] in
            let options = members(from: destination.lowerBound)
            let isSecret = options.contains { key, value in
                isKey(key, "format")
                    && !ConfigMask.isSigned(String(decoding: bytes[value.dropFirst().dropLast()], as: UTF8.self))
            }
            return isSecret ? options.filter { isKey($0.key, "url") }.map(\.value) : []
        }
    }

    private func isKey(_ place: Range<Int>, _ name: String) -> Bool { bytes[place].elementsEqual("\"\(name)\"".utf8) }

    /// The places of the keys and values of an object that begins at an offset; none for another value. The text must
    /// be JSON.
    private func members(from start: Int) -> [(key: Range<Int>, value: Range<Int>)] {
        guard bytes[start] == UInt8(ascii: "{") else { return [] }
        func token(from start: Int) -> Int? { bytes[start...].firstIndex { $0 > 0x20 && !",:".utf8.contains($0) } }
        var members: [(key: Range<Int>, value: Range<Int>)] = []
        var place = start + 1
        while let first = token(from: place), bytes[first] != UInt8(ascii: "}") {
            let key = JSONPosition.whole(from: first, in: bytes)
            guard let next = token(from: key.upperBound) else { break }
            let value = JSONPosition.whole(from: next, in: bytes)
            members.append((key, value))
            place = value.upperBound
        }
        return members
    }

    /// Replaces a URL from its path on by asterisks, or all of a string that is not a URL. References stay.
    private func hidePath(of value: Range<Int>, in text: inout [UInt8]) {
        let inside = value.dropFirst().dropLast()
        guard bytes[value.lowerBound] == UInt8(ascii: "\""),
            SecretReference(String(decoding: bytes[inside], as: UTF8.self)) == nil
        else { return }
        let host = bytes[inside].firstRange(of: Array("://".utf8)).map(\.upperBound)
        let start = host.map {
            bytes[$0..<inside.upperBound].firstIndex { "/?#\\".utf8.contains($0) } ?? inside.upperBound
        }
        for place in (start ?? inside.lowerBound)..<inside.upperBound where text[place] != UInt8(ascii: "/") {
            text[place] = UInt8(ascii: "*")
        }
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
