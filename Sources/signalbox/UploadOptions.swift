import ArgumentParser
import Foundation
import SignalboxConfig
import SignalboxGateway
import SignalboxNotification

/// The running gateway that a replay hands payloads to.
struct UploadOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Hand the payloads to the running gateway at this address, such as https://push.example.com.",
            valueName: "url"))
    var to: String?

    @Option(
        help: ArgumentHelp(
            "With --to: where the token of the source is kept, env:NAME or file:PATH.", valueName: "reference"),
        transform: { text in
            guard let reference = SecretReference(text) else {
                throw ValidationError(
                    "a token is not written on the command line, where others can read it: name it, as env:NAME or file:PATH."
                )
            }
            return reference
        })
    var token: SecretReference?

    @Option(
        help: ArgumentHelp("With --to: requests under way at the same time (default: 8).", valueName: "count"))
    var connections: Int?

    static let defaultConnections = 8

    func validate() throws {
        if let connections, !(1...256).contains(connections) {
            throw ValidationError("--connections is 1 to 256.")
        }
        guard let to else {
            if token != nil { throw ValidationError("--token is for the gateway that --to names; there is no --to.") }
            if connections != nil {
                throw ValidationError("--connections are those to the gateway that --to names; there is no --to.")
            }
            return
        }
        guard GatewayAddress(to, source: nil) != nil else {
            throw ValidationError(
                // The value may contain a password.
                "\(to.contains("@") ? "--to" : to) is no address of a gateway: write it as http://127.0.0.1:8080, without a user, ? or #."
            )
        }
    }

    func resolvedToken() throws(ExitCode) -> String? {
        do throws(UnresolvedSecret) {
            return try token?.resolve(environment: ProcessInfo.processInfo.environment)
        } catch {
            throw refuse("--token: \(error).")
        }
    }
}
