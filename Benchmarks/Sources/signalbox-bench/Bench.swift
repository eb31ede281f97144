import Foundation
import SignalboxMeasures

/// Measures the product and prints a table. Everything that is compared is measured in one run, in turn, so that the
/// ratios hold on a machine whose speed drifts.
@main
struct Bench {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let soak = arguments.count == 4 && arguments[2] == "soak" ? Int(arguments[3]) : nil
        let part = arguments.count == 3 ? Part(rawValue: arguments[2]) : nil
        guard arguments.count == 2 || soak != nil || part != nil else {
            print("usage: signalbox-bench PATH-TO-SIGNALBOX [soak SECONDS | \(Part.names)] (make bench, make soak)")
            exit(2)
        }
        let workspace = try Workspace()
        defer { workspace.remove() }
        let table = Table()
        let payloads = try Payloads()
        let gateway = GatewayBench(binary: arguments[1], workspace: workspace, payloads: payloads, table: table)
        if let soak {
            // Memory is flat when its last quarter needs no more than this beyond the second one.
            guard try await gateway.soak(seconds: soak) <= 1.1 else {
                throw FailedProgram(command: ["soak"], status: 1)
            }
            return
        }
        for part in part.map({ [$0] }) ?? Part.allCases {
            switch part {
            case .stages: try StageBench(payloads: payloads, table: table).run()
            case .commands:
                try CommandBench(binary: arguments[1], workspace: workspace, payloads: payloads, table: table).run()
            case .queue: try await QueueBench(workspace: workspace, payloads: payloads, table: table).run()
            case .gateway: try await gateway.run()
            case .inapp:
                try await InAppBench(binary: arguments[1], workspace: workspace, payloads: payloads, table: table).run()
            case .waysIn:
                try WaysInBench(binary: arguments[1], workspace: workspace, payloads: payloads, table: table).run()
            case .console:
                try await ConsoleBench(binary: arguments[1], workspace: workspace, payloads: payloads, table: table)
                    .run()
            case .nodes:
                try await NodesBench(binary: arguments[1], workspace: workspace, payloads: payloads, table: table)
                    .run()
            case .peers:
                try await PeerBench(binary: arguments[1], workspace: workspace, payloads: payloads, table: table).run()
            case .media: try await MediaBench(binary: arguments[1], workspace: workspace, table: table).run()
            }
        }
    }

    /// What can be measured by itself.
    enum Part: String, CaseIterable {
        case stages, commands, queue, gateway, peers, media, inapp, console, nodes
        case waysIn = "ways-in"

        static var names: String { allCases.map(\.rawValue).joined(separator: " | ") }
    }
}

/// A directory for everything that is written while measuring.
struct Workspace {
    let path: String

    init() throws {
        path = NSTemporaryDirectory() + "signalbox-bench-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    func file(_ name: String) -> String { path + "/" + name }

    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }

    func remove() { try? FileManager.default.removeItem(atPath: path) }
}

/// Prints rows as they are measured.
struct Table {
    init() {
        FileHandle.standardOutput.write(Data(("MEASURED".padding(44) + "RESULT\n").utf8))
    }

    func section(_ title: String) { FileHandle.standardOutput.write(Data(("\n" + title + "\n").utf8)) }

    func row(_ what: String, _ result: String) {
        // Not print, whose buffer would hold a row back until the next ones.
        FileHandle.standardOutput.write(Data((("  " + what).padding(44) + result + "\n").utf8))
    }
}

extension String {
    func padding(_ width: Int) -> String { self + String(repeating: " ", count: max(1, width - count)) }
}

extension Double {
    /// With thousands apart and as many decimals as the size calls for.
    var readable: String {
        if self < 100 { return String(format: self < 10 ? "%.2f" : "%.1f", self) }
        var digits = String(Int(rounded()))
        var groups: [String] = []
        while digits.count > 3 {
            groups.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        return ([digits] + groups).joined(separator: ",")
    }
}

/// The middle one of several measurements.
func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// Wall seconds of a piece of work.
func seconds(_ work: () throws -> Void) rethrows -> Double {
    let clock = ContinuousClock()
    return try clock.measure(work) / .seconds(1)
}
