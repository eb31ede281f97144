import SignalboxGateway

/// Stores pushes in the queue.
struct PushStore: Sendable {
    /// The intake of one config.
    let intake: Intake
    /// Logs the first failed write and the recovery.
    let alarm: QueueAlarm

    /// Calls `done` once, on any thread, with an answer for each push; nil when the queue failed and stored none. May
    /// be called on an event loop.
    func append(_ pushes: [ProviderPush], _ done: @escaping @Sendable ([ProviderAnswer]?) -> Void) {
        guard !pushes.isEmpty else { return done([]) }
        intake.accept(pushes) { [alarm] result in
            switch result {
            case .success(let answers):
                // Rejections alone wrote nothing.
                if answers.contains(where: { if case .rejected = $0 { false } else { true } }) { alarm.recover() }
                done(answers)
            case .failure(let error):
                _ = alarm.problem(of: .store(error))
                done(nil)
            }
        }
    }
}
