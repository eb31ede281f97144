import SignalboxConfig
package import SignalboxGateway
import SignalboxJSON

/// One run of `signalbox capture`.
package struct CaptureRun: Sendable {
    private let follow: CaptureFollow
    /// Also the time that the report of an incomplete run names.
    private let timeout: Duration

    /// `until`: completes the run after this number of pushes; nil for a run without an end. `timeout`: the longest
    /// wait for them. Without `until`, `timeout` has no effect.
    package init(_ connection: GatewayConnection, _ request: CaptureRequest, until: Int?, timeout: Duration) {
        follow = CaptureFollow(
            CaptureClient(connection.address, token: connection.token, http: connection.http), request, until: until,
            timeout: until == nil ? nil : timeout)
        self.timeout = timeout
    }

    /// Prints each push. Throws ``CommandFailure/incomplete(_:)`` when the pushes did not come in time, after a report
    /// on standard error. `onlyNew`: leaves out pushes that arrived before the start. Each line of `print` has no line
    /// end.
    package func run(onlyNew: Bool, asJSON: Bool, print: (String) -> Void) async throws(CommandFailure) {
        do throws(CaptureClient.Failure) {
            let end = try await follow.run(onlyNew: onlyNew) { capture in
                print(asJSON ? capture.string : CaptureLine.text(capture))
            } warn: {
                StandardError.write("signalbox: \($0)\n")
            }
            guard case .timeout(let nearMisses) = end else { return }
            StandardError.write(CaptureWords.report(nearMisses, after: timeout))
        } catch {
            switch error {
            case .interrupted: throw .interrupted
            case .refused(let sentence): throw .refused(sentence)
            }
        }
        throw .incomplete("")
    }
}
