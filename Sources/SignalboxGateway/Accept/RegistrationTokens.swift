import Foundation
import SignalboxNotification

/// Registration tokens of FCM in an app's own data, which no reader knows by their keys.
///
/// Google does not document the form of a token. Since GCM, all have a part that begins with `APA91b` and has over 130
/// characters of base64url. In tokens of FCM, the id of the installation and a colon precede it.
enum RegistrationTokens {
    private static let mark = Array("APA91b".utf8)
    /// A shorter text can be the word of an app.
    private static let shortestTail = 100
    /// No id of an installation is longer.
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
            tokens.append(DeviceToken(key: [], text: id(before: start, in: text) + Array(text[start..<end])))
        }
    }

    /// The position of the first mark from a position on; nil without one.
    private static func firstMark(in text: UnsafeBufferPointer<UInt8>, from position: Int) -> Int? {
        guard let base = text.baseAddress else { return nil }
        let mark = mark
        // A token's long part begins before this position.
        let end = text.count - shortestTail + 1
        var position = position
        while position < end, let found = memchr(base + position, Int32(mark[0]), end - position) {
            position = UnsafeRawPointer(base).distance(to: UnsafeRawPointer(found))
            if mark.indices.allSatisfy({ base[position + $0] == mark[$0] }) { return position }
            position += 1
        }
        return nil
    }

    /// The id of the installation and the colon before the rest of a token; empty without one.
    private static func id(before start: Int, in text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        let separator = text[..<start].suffix(3)
        let end: Int
        if separator.last == UInt8(ascii: ":") {
            end = start - 1
        } else if separator.elementsEqual("%3A".utf8) || separator.elementsEqual("%3a".utf8) {
            end = start - 3
        } else {
            return []
        }
        var id = text[..<end].suffix(longestID)
        if let last = id.lastIndex(where: { !isInToken($0) }) {
            // The letter after a backslash is a part of an escape.
            id = id[(id[last] == UInt8(ascii: "\\") ? last + 2 : last + 1)...]
        }
        return id.isEmpty ? [] : Array(id) + [UInt8(ascii: ":")]
    }

    /// True for the characters of base64url.
    private static func isInToken(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }
}
