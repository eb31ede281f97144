package import SignalboxConfig
import SignalboxNotification
package import SignalboxRouting

/// A failure rule whose tokens are hashed, ready to select pushes.
package struct PreparedFailure: Sendable, Equatable {
    package let selector: FailureSelector
    /// The hashed tokens of the selected devices, as events show them; empty for all pushes.
    package let tokens: Set<String>

    package var rule: FailureRule { selector.rule }

    /// `hash`: the hash that the gateway's events use.
    package init(_ selector: FailureSelector, hashedBy hash: TokenHash) {
        self.selector = selector
        var tokens: Set<String> = []
        for token in selector.rule.tokens {
            guard !token.hasPrefix(Self.hashed) else {
                tokens.insert(token)
                continue
            }
            tokens.insert(hash.name(of: Array(token.utf8)))
            // Tokens of APNs are compared in lower case.
            if token.utf8.allSatisfy(\.isHexDigit) { tokens.insert(hash.name(of: Array(token.lowercased().utf8))) }
        }
        self.tokens = tokens
    }

    private static let hashed = "sha256:"
}

extension FailureRule {
    /// Whether the rule takes the selected push of this number, counted from 1.
    package func takes(_ number: Int) -> Bool {
        let number = number - after
        return number > 0 && first.map { number <= $0 } ?? true && every.map { number % $0 == 0 } ?? true
    }
}
