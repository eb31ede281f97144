import Foundation
import SignalboxNotification

/// Registration tokens of FCM in an app's own data, which no reader knows by their keys.
///
/// Google does not document the form of a token. Since GCM, all have a part that begins with `APA91b` and has over 130
/// characters of base64url. In tokens of FCM, the id of the installation and a colon precede it.
enum RegistrationTokens {
    private static let mark: StaticString = "APA91b"
    /// A shorter text may be a word of the app.
    private static let shortestTail = 100
    /// The longest id of an installation.
    private static let longestID = 64
    /// More tokens than a payload of 4 KiB can hold.
    private static let mostTokens = 100

    /// Appends the first ``mostTokens`` of a JSON text, also percent-encoded ones. Takes time linear in the text. They
    /// have no key, because tokens of this length are found under any key.
    static func append(from text: UnsafeBufferPointer<UInt8>, to tokens: inout [DeviceToken]) {
        var position = 0
        var count = 0
        while count < mostTokens, let start = firstMark(in: text, from: position) {
            let end = text[start...].firstIndex { !isInToken($0) } ?? text.count
            position = end
            guard end - start >= shortestTail else { continue }
            count += 1
            for id in ids(before: start, in: text) {
                tokens.append(DeviceToken(key: [], text: id + Array(text[start..<end])))
            }
        }
    }

    /// The position of the first mark from a position on; nil without one.
    private static func firstMark(in text: UnsafeBufferPointer<UInt8>, from position: Int) -> Int? {
        guard let base = text.baseAddress else { return nil }
        let (first, length) = (Int32(mark.utf8Start.pointee), mark.utf8CodeUnitCount)
        // A token's long part begins before this position.
        let end = text.count - shortestTail + 1
        var position = position
        while position < end, let found = memchr(base + position, first, end - position) {
            if memcmp(found, mark.utf8Start, length) == 0 { return UnsafeRawPointer(base).distance(to: found) }
            position = UnsafeRawPointer(base).distance(to: found) + 1
        }
        return nil
    }

    /// The id of the installation and the colon, which precede the long part of a token; one empty value if there are
    /// none. `start`: the position of the long part. Two candidates after an escaped backslash, because the next
    /// letters are part of another escape if the string is a JSON text.
    private static func ids(before start: Int, in text: UnsafeBufferPointer<UInt8>) -> [[UInt8]] {
        let colon = UInt8(ascii: ":")
        let end = text[..<start].last == colon ? start - 1 : PercentEncoding.start(of: colon, before: start, in: text)
        guard let end else { return [[]] }
        let word = text[..<end].suffix(longestID)
        var starts = [word.startIndex]
        if let last = word.lastIndex(where: { !isInToken($0) }) {
            starts = [last + 1 + lengthOfEscape(text[last..<end])]
            let backslashes = text[...last].reversed().prefix { $0 == UInt8(ascii: "\\") }.count
            if backslashes > 0, backslashes % 2 == 0 { starts.append(last + 1) }
        }
        return starts.map { $0 < end ? Array(text[$0..<end]) + [colon] : [] }
    }

    /// The number of characters of an escape after its backslash or percent sign; 0 if the text begins otherwise.
    private static func lengthOfEscape(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        let next = text.dropFirst()
        switch text.first {
        case UInt8(ascii: "\\"): return next.first == UInt8(ascii: "u") ? 5 : 1
        case UInt8(ascii: "%"): return lengthOfEncoding(next)
        default: return 0
        }
    }

    /// The number of digits after a percent sign. A link inside a link has `%253D`: the encoded percent sign begins
    /// another encoding, unless a letter is next, as at the beginning of an id.
    private static func lengthOfEncoding(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        guard text.count > 2, text.prefix(2).allSatisfy(\.isHexDigit) else { return 0 }
        let rest = text.dropFirst(2)
        guard text.starts(with: "25".utf8), rest.first?.isDigit == true else { return 2 }
        return 2 + lengthOfEncoding(rest)
    }

    /// True for the characters of base64url.
    private static func isInToken(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
