extension Destination {
    /// How a webhook is asked for permission to send to it (CloudEvents, HTTP 1.1 Web Hooks for Event Delivery, 4).
    package struct Handshake: Sendable, Equatable {
        /// Who asks: a DNS name that stands for the whole gateway.
        package var origin: String
        /// Requests in a minute to ask for; nil asks for none.
        package var perMinute: Int?
        /// How long a permission is good.
        package var age: Duration = .seconds(86_400)

        package init(origin: String, perMinute: Int? = nil) {
            self.origin = origin
            self.perMinute = perMinute
        }

        /// Whether a text can be an origin: letters, digits, `-`, `_` and `.`, as in names of hosts.
        package static func allows(origin: String) -> Bool {
            (1...253).contains(origin.utf8.count)
                && origin.unicodeScalars.allSatisfy { scalar in
                    switch scalar {
                    case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".": true
                    default: false
                    }
                }
        }
    }

    /// How it is asked for permission; nil where nobody asks.
    package var handshake: Handshake? {
        if case .webhook(let webhook) = endpoint { webhook.handshake } else { nil }
    }
}
