import SignalboxConfig

/// The file with the key of a data directory, under which the gateway hashes device tokens.
package enum TokenKeyFile {
    /// Bytes of the key.
    package static let size = 32

    /// The key of a data directory; nil if there is none. Warns of a key that cannot be read or that no gateway would
    /// use.
    package static func key(in directory: String) -> [UInt8]? {
        let file = directory + "/token.key"
        let reason: String
        do throws(UnreadableFile) {
            let key = try ConfigText.contents(of: file, upTo: size + 1)
            if key.count == size { return key }
            reason = "it does not have \(size) bytes"
        } catch {
            guard !error.isMissing else { return nil }
            reason = error.reason
        }
        StandardError.warn(
            "Cannot use the gateway's key \(file): \(reason). Hashes of device tokens differ from the gateway's.")
        return nil
    }
}
