internal import COpenSSL

/// Unpredictable bytes from OpenSSL's generator.
package func randomBytes(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
        precondition(RAND_bytes(bytes.baseAddress, Int32(count)) == 1, "OpenSSL has no random numbers.")
        written = count
    }
}
