import HTTPTypes
import NIOHTTP1

/// Why a request is rejected by its head alone. The connection is closed after the response.
enum HeadRefusal: String, Error, CaseIterable {
    case hostMissing = "HOST-MISSING"
    case hostRepeated = "HOST-REPEATED"
    case hostInvalid = "HOST-INVALID"
    case targetInvalid = "TARGET-INVALID"
    case framingAmbiguous = "FRAMING-AMBIGUOUS"
    case transferCodingUnsupported = "TRANSFER-CODING-UNSUPPORTED"
    case expectationUnsupported = "EXPECTATION-UNSUPPORTED"

    private static let prefix = "REFUSED-"

    /// Represents the request on its way to ``GuardedResponder``, so that earlier requests get their responses first.
    ///
    /// The parser rejects unknown methods, so no client can send this one.
    var head: HTTPRequestHead {
        HTTPRequestHead(
            version: .http1_1, method: .RAW(value: Self.prefix + rawValue), uri: "/",
            headers: ["connection": "close"])
    }

    /// Reads the method of ``head``; nil for any other method.
    init?(_ method: HTTPRequest.Method) {
        guard method.rawValue.hasPrefix(Self.prefix) else { return nil }
        self.init(rawValue: String(method.rawValue.dropFirst(Self.prefix.count)))
    }
}
