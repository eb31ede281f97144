import Foundation

extension String {
    private static let unreserved = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    /// The text as a value of a URL's query or of a form. The unreserved characters of RFC 3986, 2.3 stay: ASCII
    /// letters and digits, `-`, `.`, `_` and `~`. Every other byte of the UTF-8 becomes `%` and two upper-case
    /// hexadecimal digits.
    package var percentEncoded: String { addingPercentEncoding(withAllowedCharacters: Self.unreserved) ?? "" }
}
