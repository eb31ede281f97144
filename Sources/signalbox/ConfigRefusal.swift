import ArgumentParser
import SignalboxConfig
import SignalboxRouting

/// The reasons why a config cannot be used, for the terminal and for later requests.
struct ConfigRefusal: Error {
    /// For standard error, line ends included.
    let text: String
    /// A line for each problem, without the lines of the config, in which anything may stand.
    let problems: [String]

    init(_ sentence: String) {
        text = "signalbox: \(sentence)\n"
        problems = [sentence]
    }

    init(_ mistakes: [ConfigMistake], in files: [ConfigText]) {
        let report = ConfigReport(of: files, hasColor: StandardError.hasColor)
        text = report.text(of: mistakes) + report.summary(of: mistakes)
        problems = ConfigReport.lines(of: mistakes, in: files.map(\.name))
    }

    /// Says it on standard error, and ends a command with ``ExitCode/unusable``.
    var told: ExitCode {
        StandardError.write(text)
        return .unusable
    }
}

/// Does what needs a config that can be used, or says on standard error why it cannot be.
func orRefuse<T>(_ work: () throws(ConfigRefusal) -> T) throws(ExitCode) -> T {
    do throws(ConfigRefusal) { return try work() } catch { throw error.told }
}

extension GatewayOptions {
    /// The config, or on standard error why it cannot be used.
    func loadConfig() throws(ExitCode) -> RoutedConfig {
        try orRefuse { () throws(ConfigRefusal) in try ConfigFile.load(configPath) }
    }
}
