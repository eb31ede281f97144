/// A right of the clients of a source. Raw values are those of the config.
package enum SourceRight: String, Sendable, CaseIterable {
    /// Send payloads, to the gateway's own endpoints and to those of push services.
    case notifications
    /// Report taps.
    case interactions
    /// Ask for in-app messages, and report their outcomes.
    case inapp
    /// Read the button sets that an app registers.
    case categories
}
