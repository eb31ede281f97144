import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxJSON
import SignalboxNotification
import SignalboxRouting

extension Routes {
    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say whether payloads go where they should.",
            discussion: """
                CASES is a JSON array of objects: "name"; "payload", "event" or "file"; perhaps "source" and "time"; "expect", the \
                names of the routes that take it; perhaps "expectDestinations". A route with a sample takes all that it could.
                """)

        @Argument(help: "The file of cases.", completion: .file(extensions: ["json"]))
        var cases: String

        @OptionGroup var options: GatewayOptions

        @Flag(help: "Print one JSON object instead of lines.")
        var json = false

        func run() throws {
            let loaded = try options.loadConfig()
            let config = loaded.config
            let normalizer = try NormalizerOptions(options).makeNormalizer()
            let trials = RouteTrials(
                normalizer: normalizer, routes: loaded.routes.withoutSampling, vendors: config.sourceVendors)
            let now = Date()
            let results = try read(for: config).map { try result(of: $0, by: trials, at: now) }
            let failed = results.count { !$0.passed }
            if json {
                StandardOutput.print(String(decoding: RouteCaseResult.json(results), as: UTF8.self))
            } else {
                for result in results {
                    StandardOutput.print(result.text(hasColor: StandardOutput.hasColor), terminator: "")
                }
                StandardOutput.print("\(results.count) cases: \(results.count - failed) passed, \(failed) failed")
            }
            if failed > 0 { throw ExitCode.incomplete }
        }

        private func read(for config: GatewayConfig) throws(ExitCode) -> [RouteCase] {
            guard let bytes = ConfigText.beginning(of: cases, upTo: ConfigBounds.bytes + 1) else {
                throw refuse("\(cases) cannot be read; it should hold a JSON array of cases.")
            }
            let text = ConfigText(name: cases, bytes: bytes)
            do throws(InvalidConfig) {
                return try RouteCase.read(text, for: config)
            } catch {
                let report = ConfigReport(of: [text], hasColor: StandardError.hasColor)
                StandardError.write(report.text(of: error.mistakes) + report.summary(of: error.mistakes))
                throw .unusable
            }
        }

        private func result(
            of item: RouteCase, by trials: RouteTrials, at now: Date
        ) throws(ExitCode) -> RouteCaseResult {
            let input: [UInt8]
            switch item.input {
            case .text(let text): input = text.bytes
            case .file(let path):
                let folder = (cases as NSString).deletingLastPathComponent
                let whole = path.hasPrefix("/") || folder.isEmpty ? path : folder + "/" + path
                guard let bytes = FileManager.default.contents(atPath: whole) else {
                    throw refuse("\(cases): the file \(whole) of the case \"\(item.name)\" cannot be read.")
                }
                input = Array(bytes)
            }
            do throws(Rejection) {
                let trial = try trials.trial(of: input, from: item.source, at: item.time ?? now)
                return RouteCaseResult(item, .success(trial))
            } catch {
                return RouteCaseResult(item, .failure(error))
            }
        }
    }

    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the JSON Schema of the config.",
            discussion:
                "Keep it as routes.schema.json beside the config, which names it as its \"$schema\", for editors.")

        func run() { StandardOutput.print(String(decoding: ConfigSchema.text, as: UTF8.self), terminator: "") }
    }
}
