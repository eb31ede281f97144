import Foundation
import SignalboxConfig
package import SignalboxEgress
package import SignalboxGateway
import SignalboxJSON
import SignalboxServer

/// The requests of a command to a running gateway. The operator typed the address, so the egress policy does not apply.
package struct GatewayConnection: Sendable {
    /// The address of the gateway, without a path.
    package let address: GatewayAddress
    /// Sent as a bearer token; nil for an open gateway.
    package let token: String?
    /// Its policy permits every address.
    package let http: OutboundHTTP

    /// Makes no connection yet; the first request does.
    package init(_ address: GatewayAddress, token: String?) {
        (self.address, self.token) = (address, token)
        http = OutboundHTTP(policy: .unrestricted)
    }

    /// Ends all requests, including those in progress, with ``CommandFailure/interrupted``.
    package func stop() { http.stop() }

    /// The headers of a request, with the token.
    func headers(_ more: [(name: String, value: String)] = []) -> [(name: String, value: String)] {
        more + (token.map { [(name: "authorization", value: "Bearer \($0)")] } ?? [])
    }

    /// Sends a request and returns the answer, of any status. Throws for a gateway that cannot be reached, and after
    /// ``stop()``. Makes one attempt and follows no redirect, so the token reaches no other host.
    func answer(to request: OutboundRequest) async throws(CommandFailure) -> OutboundReply {
        switch await http.attempt(request).answer {
        case .success(let reply): return reply
        case .failure(.stopped): throw .interrupted
        case .failure(let error): throw .refused(unreachable(error))
        }
    }

    /// The sentence for a gateway that does not answer.
    func unreachable(_ error: TransportError) -> String {
        "Cannot reach \(address.root): \(error). Start the gateway, or name its address with --url."
    }
}

extension OutboundReply {
    /// The reason of an answer that is a problem (RFC 9457) or names a `reason`. Without either member, a sentence with
    /// the status.
    var detail: String {
        JSONParser.read(excerpt) { root in
            guard root.isObject else { return nil }
            return root["detail"]?.string ?? root["reason"]?.string ?? "The gateway answered \(status)."
        } ?? otherServerDetail
    }

    /// The sentence for an answer that no gateway gives.
    var otherServerDetail: String {
        "The server answered \(status), but not as a Signalbox gateway does; check the address."
    }

    /// True for an answer about the credential.
    var isAboutAccess: Bool { status == 401 || status == 403 }
}

/// The address of a running gateway, as commands find it.
package enum GatewayURL {
    /// The address without any setting.
    private static let standard = "http://127.0.0.1:8080"

    /// The option, else `SIGNALBOX_URL`, else the address of `SIGNALBOX_LISTEN`, else port 8080 of this machine. An
    /// empty variable counts as unset. `environment`: nil for that of the process. Throws for a text that is not the
    /// address of a gateway or of a listener, without repeating one that may contain a secret.
    package static func read(
        _ option: String?, _ environment: [String: String]? = nil
    ) throws(CommandFailure) -> GatewayAddress {
        let environment = environment ?? ProcessInfo.processInfo.environment
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        let named = option ?? variable("SIGNALBOX_URL")
        let text = if let named { named } else { try local(variable("SIGNALBOX_LISTEN")) }
        guard let address = GatewayAddress(text, source: nil) else {
            throw .refused(
                "Invalid gateway address\(text.contains { "@?".contains($0) } ? "" : " \(text)"): write it as \(standard), "
                    + "without a user, a query or a fragment.")
        }
        return address
    }

    /// The address at which this machine reaches the listener of `SIGNALBOX_LISTEN`; ``standard`` if the variable is
    /// not set, or lets the system choose the port. Throws for a text that `serve` does not accept either.
    private static func local(_ listen: String?) throws(CommandFailure) -> String {
        guard let listen else { return standard }
        guard let address = ListenAddress(listen) else {
            throw .refused(
                "Invalid SIGNALBOX_LISTEN \(listen): write it as 127.0.0.1:8080 or [::1]:8080, or name the gateway's "
                    + "address with --url.")
        }
        guard address.port != 0 else { return standard }
        let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][address.host] ?? address.host
        return "http://\(ListenAddress(host: host, port: address.port))"
    }
}

/// A token that a command sends. It never comes from the command line, which other users of the machine can see.
package enum CommandToken {
    /// Throws for a text that is not a reference, without repeating it. Nil, an option that is not given, is none.
    package static func check(_ text: String?, option: String) throws(CommandFailure) {
        guard let text, SecretReference(text) == nil else { return }
        throw .refused(
            "\(option): a token on the command line is visible to other users; "
                + "write a reference, env:NAME or file:PATH.")
    }

    /// The secret that a reference names; without a reference, the token of the environment's variable; nil if neither
    /// is set. `text`: of the option. An empty variable counts as unset. Throws for a text that is not a reference, and
    /// for a secret that cannot be read, without repeating either.
    package static func read(
        _ text: String?, option: String, variable: String?, _ environment: [String: String]? = nil
    ) throws(CommandFailure) -> String? {
        let environment = environment ?? ProcessInfo.processInfo.environment
        let implied = variable.flatMap { environment[$0, default: ""].isEmpty ? nil : "env:" + $0 }
        try check(text, option: option)
        guard let text = text ?? implied, let reference = SecretReference(text) else { return nil }
        do throws(UnresolvedSecret) {
            return try reference.resolve(environment: environment)
        } catch {
            throw .refused("\(option): \(error).")
        }
    }
}
