import SignalboxGateway
import SignalboxNotification
import SignalboxStore

/// Accepts the payloads of one request to a provider endpoint that names its addressees in the payload.
struct PushAcceptance: Sendable {
    /// The intake of one config.
    let intake: Intake
    /// Logs the first failed write and the recovery.
    let alarm: QueueAlarm

    /// The id of each payload's event, in the order of the payloads. A repeat of an earlier event has the id of that.
    typealias Outcome = Result<[Result<String, Rejection>], Intake.Failure>

    /// Calls `done` once, on any thread, when all events are durable, or none was stored. `payloads`: one valid JSON
    /// object each, at most ``Intake/batchLimit``. May be called on an event loop.
    func accept(_ payloads: [[UInt8]], from source: SourceName, _ done: @escaping @Sendable (Outcome) -> Void) {
        guard !payloads.isEmpty else { return done(.success([])) }
        if payloads.count == 1, intake.readsAtOnce,
            let read = payloads[0].withUnsafeBufferPointer({ intake.readOne($0, from: source) })
        {
            return intake.accept(read) { result in done(outcome(of: result.mapError { .store($0) })) }
        }
        // Unstructured, because the caller is an event loop, which must not wait. `done` ends it.
        Task {
            let body = payloads.count == 1 ? payloads[0] : Array("[".utf8) + payloads.joined(separator: [0x2C]) + [0x5D]
            let result: Result<Intake.Report, Intake.Failure>
            do throws(Intake.Failure) {
                guard case .report(let report) = try await intake.accept(body, from: source) else {
                    preconditionFailure("A request without an idempotency key has no stored answer.")
                }
                result = .success(report)
            } catch {
                result = .failure(error)
            }
            done(outcome(of: result))
        }
    }

    /// Records an outage or its end.
    private func outcome(of result: Result<Intake.Report, Intake.Failure>) -> Outcome {
        switch result {
        case .failure(let failure):
            _ = alarm.problem(of: failure)
            return .failure(failure)
        case .success(let report):
            alarm.recover(by: report.items)
            return .success(
                report.items.enumerated().map { position, item in
                    item.map { report.duplicates[position] ?? $0.event.id.description }
                })
        }
    }
}
