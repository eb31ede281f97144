internal import CCurl
package import Foundation

extension Date {
    /// Reads an HTTP date in any of its three spellings (RFC 9110, 5.6.7); nil when it is none, or not after 1970.
    package init?(http text: String) {
        let seconds = curl_getdate(text, nil)
        guard seconds > 0 else { return nil }
        self.init(timeIntervalSince1970: TimeInterval(seconds))
    }
}
