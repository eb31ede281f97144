import Foundation

/// The token of an `authorization` header, empty when there is none; the scheme's case does not count (RFC 9110, 11.1).
func bearerToken(_ authorization: String?) -> [UInt8] {
    let parts = (authorization ?? "").split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return [] }
    return Array(parts[1].trimmingCharacters(in: .whitespaces).utf8)
}
