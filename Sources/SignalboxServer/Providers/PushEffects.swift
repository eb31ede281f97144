import SignalboxConfig

/// Effects of failure rules on the answer to a request, besides its words.
struct PushEffects: Sendable, Equatable {
    /// The longest delay of the rules; nil for none.
    private(set) var delay: Duration?
    /// That of the first rule with one.
    private(set) var fault: FailureRule.ConnectionFault?
    /// The debug data of a GOAWAY: Apple sends a reason.
    private var reason = "Shutdown"

    /// `failure`: the failure that the rule makes; nil if it accepts the push.
    mutating func add(_ rule: FailureRule, _ failure: InjectedFailure?) {
        if let delay = rule.delay { self.delay = max(delay, self.delay ?? .zero) }
        guard let fault = rule.connection, self.fault == nil else { return }
        self.fault = fault
        if let failure { reason = failure.reason }
    }

    /// The reply with the fault.
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
