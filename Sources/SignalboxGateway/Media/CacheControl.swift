import Foundation

/// The directives of a `Cache-Control` (RFC 9111, 5.2): names in any case, values as tokens or in quotes. Of several with
/// one name, the first counts.
struct CacheControl: Sendable, Equatable {
    private var directives: [String: String?] = [:]

    init(_ text: String) {
        for part in Self.parts(Array(text.utf8)) {
            let pair = part.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.trimmed(pair[0]).lowercased()
            guard !name.isEmpty, directives[name] == nil else { continue }
            directives.updateValue(pair.count == 2 ? Self.unquoted(Self.trimmed(pair[1])) : nil, forKey: name)
        }
    }

    func has(_ name: String) -> Bool { directives[name] != nil }

    func value(_ name: String) -> String? { directives[name] ?? nil }

    /// A number of seconds; one that is too large is a very large one (section 1.2.2).
    static func seconds(_ text: String) -> TimeInterval? {
        let digits = trimmed(Array(text.utf8)[...])
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return TimeInterval(min(Int(digits) ?? .max, 1 << 31))
    }

    /// Commas in quotes part nothing.
    private static func parts(_ text: [UInt8]) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var start = 0
        var isQuoted = false
        var place = 0
        while place < text.count {
            switch text[place] {
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\") where isQuoted: place += 1
            case UInt8(ascii: ",") where !isQuoted:
                parts.append(text[start..<place])
                start = place + 1
            default: break
            }
            place += 1
        }
        parts.append(text[start...])
        return parts
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespaces)
    }

    private static func unquoted(_ text: String) -> String {
        guard text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") else { return text }
        return String(text.dropFirst().dropLast())
    }
}
