extension Destination {
    /// A header that every request to a webhook bears.
    package struct Header: Sendable, Equatable {
        /// In lower case.
        package let name: String
        package let value: Value

        package enum Value: Sendable, Equatable {
            case text(String)
            case secret(SecretReference)
        }

        /// Whether a value, once it is known, can be sent: visible ASCII with blanks between, so no line ends.
        package static func allows(_ value: String) -> Bool {
            let bytes = value.utf8
            return !bytes.isEmpty && bytes.count <= 8192 && bytes.first != 0x20 && bytes.last != 0x20
                && bytes.allSatisfy { (0x20...0x7E).contains($0) }
        }
    }

    /// What to get access tokens with, by OAuth 2.0's client credentials grant (RFC 6749, 4.4).
    package struct ClientCredentials: Sendable, Equatable {
        /// `http` or `https`.
        package let tokenURL: String
        package let clientID: String
        package let clientSecret: SecretReference
        package let scope: String?

        package init(tokenURL: String, clientID: String, clientSecret: SecretReference, scope: String? = nil) {
            self.tokenURL = tokenURL
            self.clientID = clientID
            self.clientSecret = clientSecret
            self.scope = scope
        }
    }
}
