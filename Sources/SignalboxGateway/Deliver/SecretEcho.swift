/// Hides replies that repeat a secret of their request: the path and query of a URL, or values of headers.
struct SecretEcho: Sendable {
    /// Runs of bytes of the secret, encoded and percent-decoded.
    private let runs: Set<ArraySlice<UInt8>>

    /// Fewer equal bytes are a coincidence. Small enough that a secret is also found if a reply escapes some of its
    /// characters or shows only a part.
    private static let length = 8
    /// Replaces a reply.
    private let hidden: [UInt8]

    /// `url`: absolute, without user name and fragment.
    init(_ url: String) {
        let secret = url.firstRange(of: "://").map { url[$0.upperBound...].drop { !"/?".contains($0) } } ?? url[...]
        runs = Self.runs(of: Array(secret.utf8)).union(Self.runs(of: Self.decoded(Array(secret.utf8))))
        hidden = Array("[hidden: it repeats the URL]".utf8)
    }

    /// `values`: of headers. Spaces separate secrets from schemes such as `Bearer`.
    init(headers values: [String]) {
        let words = values.flatMap { $0.split(separator: " ") }
        runs = words.reduce(into: []) { $0.formUnion(Self.runs(of: Array($1.utf8))) }
        hidden = Array("[hidden: it repeats a header]".utf8)
    }

    /// The start of a reply; a notice instead of one that repeats the secret.
    func masked(_ excerpt: [UInt8]) -> [UInt8] {
        Self.starts(in: excerpt).contains { runs.contains(excerpt[$0..<($0 + Self.length)]) } ? hidden : excerpt
    }

    /// The value of a header of a reply; a notice instead of one that repeats the secret.
    func masked(_ value: String) -> String { String(decoding: masked(Array(value.utf8)), as: UTF8.self) }

    private static func runs(of bytes: [UInt8]) -> Set<ArraySlice<UInt8>> {
        Set(starts(in: bytes).map { bytes[$0..<($0 + length)] })
    }

    /// The positions where ``length`` bytes begin.
    private static func starts(in bytes: [UInt8]) -> Range<Int> { 0..<max(0, bytes.count - length + 1) }

    /// Bytes that are not valid percent encoding stay.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var position = 0
        while position < bytes.count {
            let digits = bytes[position...].dropFirst().prefix(2)
            if bytes[position] == UInt8(ascii: "%"), digits.count == 2,
                let byte = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                result.append(byte)
                position += 3
            } else {
                result.append(bytes[position])
                position += 1
            }
        }
        return result
    }
}
