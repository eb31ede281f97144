internal import Foundation
import SignalboxJSON

extension PlatformPayload {
    /// Parses the JSON text whose Base64 a string contains, so that paths lead into it. Without effect on a value of
    /// another form. Parses a string once.
    func openBase64(at path: CataloguePath) {
        guard let string = value(at: path), parser.opened(string) == nil, let text = string.decodedBase64 else {
            return
        }
        parser.open(string, as: text)
    }
}

extension JSONValue {
    /// The bytes that a string contains as Base64 (RFC 4648), also in the alphabet for URLs and without padding; nil
    /// for any other value.
    fileprivate var decodedBase64: [UInt8]? {
        guard let utf8, !utf8.isEmpty else { return nil }
        var text = utf8.filter { !$0.isJSONSpace && $0 != UInt8(ascii: "=") }.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        text += Array(repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
        return Data(base64Encoded: Data(text)).map { Array($0) }
    }
}
