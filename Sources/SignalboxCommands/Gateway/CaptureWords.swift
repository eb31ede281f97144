import SignalboxConfig

/// The texts and arguments of `signalbox capture`.
package enum CaptureWords {
    /// Why a wait ended without enough pushes, as whole lines. `arrived`: the pushes that count. `nearMisses`: lines
    /// without line ends; none means that no other push arrived.
    package static func report(_ arrived: Int, of count: Int, _ nearMisses: [String], after time: Duration) -> String {
        let heading = "signalbox: \(arrived) of \(count) \(count == 1 ? "push" : "pushes") arrived within \(time.text)."
        guard !nearMisses.isEmpty else { return heading + " No other push arrived.\n" }
        return heading + " Other pushes, newest first:\n" + nearMisses.map { $0 + "\n" }.joined()
    }

    /// The pattern of an argument: JSON, or the path of a file with JSON. Throws for anything else. An argument that
    /// begins with a brace is JSON. A pipe may take the place of the file.
    package static func pattern(_ argument: String) throws(CommandFailure) -> [UInt8] {
        let isJSON = argument.drop { $0.isWhitespace }.hasPrefix("{")
        let text: [UInt8]
        do throws(UnreadableFile) {
            text = try isJSON ? Array(argument.utf8) : file(argument)
        } catch {
            throw .refused("Cannot read \(argument): \(error.reason). --match takes JSON or the path of a file.")
        }
        guard let pattern = CaptureRequest.pattern(text) else {
            throw .refused("The pattern of --match is not a JSON object.")
        }
        return pattern
    }

    private static func file(_ path: String) throws(UnreadableFile) -> [UInt8] {
        try ConfigText.contents(of: path, upTo: ConfigBounds.bytes + 1, orPipe: true)
    }
}
