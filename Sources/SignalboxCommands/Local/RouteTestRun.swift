package import Foundation
package import SignalboxConfig
package import SignalboxGateway
import SignalboxNotification
import SignalboxRouting

/// One run of `signalbox routes test`.
package struct RouteTestRun {
    /// One for each case, in the order of the file.
    private let results: [RouteCaseResult]
    private let failed: Int

    /// Runs the cases of a file in their order, even after a failed one. `path`: `-` is standard input. `now`: the time
    /// of cases without one. Files that cases name are relative to the folder of `path`. Throws if `path` cannot be
    /// read. Also throws all mistakes of the cases together, including files that they name and that cannot be read.
    package init(_ path: String, for config: GatewayConfig, by trials: RouteTrials, at now: Date) throws {
        let folder = path.parentPath
        let (text, cases) = try InputTexts.cases(path, for: config)
        var results: [RouteCaseResult] = []
        var diagnostics = ConfigDiagnostics()
        for item in cases {
            do throws(UnreadableFile) {
                results.append(try RouteCaseResult(running: item, from: folder, by: trials, at: now))
            } catch {
                guard case .file(_, let location) = item.input else { continue }
                diagnostics.error(
                    at: location,
                    "this file cannot be read: \(error.reason); it should contain the payload or the event")
            }
        }
        do throws(InvalidConfig) { try diagnostics.throwErrors(in: [text]) } catch {
            throw ConfigRefusal(error, in: [text])
        }
        self.results = results
        failed = results.count { !$0.passed }
    }

    /// Prints the results, and throws ``CommandFailure/incomplete(_:)`` if a case failed. `print` receives whole lines.
    package func report(asJSON: Bool, hasColor: Bool, print: (String) -> Void) throws(CommandFailure) {
        if asJSON {
            print(String(decoding: RouteCaseResult.json(results), as: UTF8.self) + "\n")
        } else {
            for result in results { print(result.text(hasColor: hasColor)) }
            print("\(Counted.words(results.count, "case")): \(results.count - failed) passed, \(failed) failed\n")
        }
        if failed > 0 { throw .incomplete("") }
    }
}
