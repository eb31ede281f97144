/// The members of `tracestate`, as the gateway keeps them: valid, and bounded in number and length.
/// Source: W3C Trace Context, 3.3
package struct TraceState: Sendable, Equatable {
    /// Keys and values with `=` between them, the newest member first. Never one of the gateway's own.
    private let members: [Substring]

    /// Most members of a list (3.3.1.1).
    static let most = 32
    /// Most bytes of a list. Further members are dropped (3.3.1.5).
    static let longest = 512
    /// Members beyond this length are dropped first (3.3.1.5).
    private static let longMember = 128
    /// The gateway's member: this key and the identifier of its span.
    private static let key = "signalbox"
    /// Bytes of the gateway's member with its comma.
    private static let own = key.utf8.count + 18

    /// Reads the value of a header; several lines must be joined with commas. Nil for an invalid list, for one with
    /// more than ``most`` members, and for one without members. Drops the member of another gateway, and members until
    /// there is room for the gateway's own.
    package init?(_ header: String) {
        var members: [Substring] = []
        var keys: Set<Substring> = []
        for part in header.split(separator: ",", omittingEmptySubsequences: false) {
            let member = Self.trimmed(part)
            guard !member.isEmpty else { continue }
            let end = member.firstIndex(of: "=") ?? member.endIndex
            let key = member[..<end]
            guard members.count < Self.most, Self.isKey(key), Self.isValue(member[end...].dropFirst()),
                keys.insert(key).inserted
            else { return nil }
            members.append(member)
        }
        members = Self.shortened(members.filter { !$0.hasPrefix(Self.key + "=") })
        guard !members.isEmpty else { return nil }
        self.members = members
    }

    /// The list without the gateway's member: at most ``most`` members and ``longest`` bytes.
    package var text: String { members.joined(separator: ",") }

    /// A list that begins with the gateway's member, which names its span.
    static func text(of span: SpanID, before rest: String?) -> String {
        let own = "\(key)=\(span)"
        return rest.map { "\(own),\($0)" } ?? own
    }

    /// Leaves room for the gateway's member.
    private static func shortened(_ members: [Substring]) -> [Substring] {
        var members = members
        var length = own + members.reduce(0) { $0 + $1.utf8.count + 1 } - 1
        func remove(at index: Int) {
            length -= members[index].utf8.count + 1
            members.remove(at: index)
        }
        while length > longest, let index = members.lastIndex(where: { $0.utf8.count > longMember }) {
            remove(at: index)
        }
        while length > longest || members.count >= most { remove(at: members.count - 1) }
        return members
    }

    /// Without spaces and tabs at both ends.
    private static func trimmed(_ text: Substring) -> Substring {
        func isSpace(_ character: Character) -> Bool { character == " " || character == "\t" }
        guard let last = text.lastIndex(where: { !isSpace($0) }) else { return "" }
        return text[...last].drop(while: isSpace)
    }

    /// 1 to 256 lower-case letters, digits, `_`, `-`, `*`, `/`, and `@` once: the first one is a letter or a digit
    /// (level 2, 3.3.1.3.1).
    private static func isKey(_ key: Substring) -> Bool {
        guard let first = key.utf8.first, isLetterOrDigit(first), key.utf8.count <= 256 else { return false }
        let parts = key.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count <= 2
            && parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { isLetterOrDigit($0) || "_-*/".utf8.contains($0) }
            }
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// 1 to 256 visible ASCII characters and spaces, without `=` (3.3.1.3.2). Commas and spaces at the end do not
    /// reach it.
    private static func isValue(_ value: Substring) -> Bool {
        (1...256).contains(value.utf8.count)
            && value.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }
    }
}
