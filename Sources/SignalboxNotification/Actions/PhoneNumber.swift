/// A number to dial: with a plus in the international form of E.164, otherwise a local number.
///
/// Accepts the forms that people and RFC 3966 write: `+1 (555) 010-9999`, `tel:+1-555-010-9999;ext=12`, `112`.
enum PhoneNumber {
    /// Why a text is not a number to dial.
    enum Mistake: Error {
        case noDigits, otherCharacters, tooLong, noCountryCode, parameters

        /// One sentence for people.
        var message: String {
            switch self {
            case .noDigits: "This number contains no digit."
            case .otherCharacters:
                "The number contains characters other than digits, spaces, dots, dashes and parentheses."
            case .tooLong: "The number has too many digits; E.164 allows at most 15."
            case .noCountryCode: "The number lacks a country code after the plus, or has too few digits (E.164)."
            case .parameters:
                "Invalid parameter after the number; expected one of a tel URI (RFC 3966), such as \";ext=12\"."
            }
        }
    }

    /// Throws the first mistake. Checks the form only: the number may not exist. Accepts ASCII digits only.
    static func check(_ text: String) throws(Mistake) {
        var rest = text[...]
        if rest.utf8.count > 4, rest.prefix(4).lowercased() == "tel:" { rest = rest.dropFirst(4) }
        let end = rest.firstIndex(of: ";") ?? rest.endIndex
        let digits = try digits(of: rest[..<end])
        try checkParameters(rest[end...])
        let isInternational = digits.first == "+"
        if isInternational {
            guard digits.count > 3, digits.dropFirst().first != "0" else { throw .noCountryCode }
        }
        // Local numbers may have prefixes to dial out.
        guard digits.count <= (isInternational ? 16 : 32) else { throw .tooLong }
    }

    /// The digits, with a leading plus if there is one; removes the separators.
    private static func digits(of text: Substring) throws(Mistake) -> String {
        var digits = ""
        var hasDigit = false
        for character in text.unicodeScalars {
            switch character {
            case "0"..."9":
                hasDigit = true
                digits.unicodeScalars.append(character)
            // RFC 3966 allows these in local numbers only, for services of a network.
            case "*", "#":
                if digits.first != "+" { digits.unicodeScalars.append(character) } else { throw .otherCharacters }
            case "+": if digits.isEmpty { digits = "+" } else { throw .otherCharacters }
            case " ", "-", ".", "(", ")", "\u{A0}": continue
            default: throw .otherCharacters
            }
        }
        guard hasDigit else { throw .noDigits }
        return digits
    }

    /// `;name=value` or `;name`, any number of times; names and values as `pname` and `pvalue` of RFC 3966. Linear in
    /// the length of the text.
    private static func checkParameters(_ text: Substring) throws(Mistake) {
        for parameter in text.split(separator: ";", omittingEmptySubsequences: false).dropFirst() {
            let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = parts.first, !name.isEmpty,
                name.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }),
                parts.count == 1 || isValue(parts[1].utf8)
            else { throw .parameters }
        }
    }

    /// `pvalue` of RFC 3966.
    private static func isValue(_ text: Substring.UTF8View) -> Bool {
        var rest = text
        guard !rest.isEmpty else { return false }
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard let first = rest.popFirst(), let second = rest.popFirst(), first.isHexDigit, second.isHexDigit
                else { return false }
            } else if !byte.isLetterOrDigit, !"[]/:&+$-_.!~*'()".utf8.contains(byte) {
                return false
            }
        }
        return true
    }
}
