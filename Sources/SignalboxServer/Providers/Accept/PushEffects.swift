import SignalboxConfig

/// Effects of failure rules on the answer to a request, besides its words.
struct PushEffects: Sendable, Equatable {
    /// The longest delay of the rules; nil for none.
    private(set) var delay: Duration?
    /// The connection fault of the first rule that has one.
    private(set) var fault: FailureRule.ConnectionFault?
    /// The debug data of a GOAWAY. Apple sends a reason there.
    private var reason = "Shutdown"

    /// Adds the effects of a rule that took a push. `failure`: its answer; nil if the rule lets the push be accepted.
    mutating func add(_ rule: FailureRule, _ failure: InjectedFailure?) {
        if let delay = rule.delay { self.delay = max(delay, self.delay ?? .zero) }
        guard let fault = rule.connection, self.fault == nil else { return }
        self.fault = fault
        if let failure { reason = failure.reason }
    }

    /// Returns the reply, with the connection fault applied.
    func apply(to reply: ProviderReply) -> ProviderReply {
        guard let fault else { return reply }
        var reply = reply
        reply.after =
            switch fault {
            case .goAway: .goAway(debugData: Array(#"{"reason":"\#(reason)"}"#.utf8))
            case .oneStream: .oneStream
            case .cut: .cut
            }
        return reply
    }
}
