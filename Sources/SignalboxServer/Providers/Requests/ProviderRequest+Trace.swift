import SignalboxGateway

extension ProviderRequest {
    /// The request with its trace; the same object for a request without one.
    func traced(by telemetry: Telemetry) -> ProviderRequest {
        guard let trace = telemetry.trace(traceparent: traceparent, state: tracestate) else { return self }
        return ProviderRequest(
            method: method, path: path, query: query, authority: authority, headers: headers, bodyLength: bodyLength,
            connection: connection, run: run, trace: trace)
    }

    /// Empty if the field is repeated, because then it is not valid.
    fileprivate var traceparent: String? {
        var found: String?
        for (name, value) in headers where name == "traceparent" { found = found == nil ? value : "" }
        return found
    }

    /// Several fields are joined with commas. RFC 9110, 5.3, permits that.
    fileprivate var tracestate: String? {
        let values = headers.filter { $0.name == "tracestate" }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ",")
    }

    /// The path of the endpoint with names instead of its parameters. Other paths become `/`: they may contain device
    /// tokens and secrets. Topics of HTTP v1 have the route of messages, and receipts of Expo that of pushes.
    fileprivate var route: String {
        let parts = path.split(separator: "/")
        switch parts.first {
        case "3" where parts.dropFirst().first == "device": return "/3/device/{token}"
        case "4" where parts.dropFirst().first == "broadcasts": return "/4/broadcasts/apps/{bundle}"
        case "v1" where parts.dropFirst().first == "projects":
            return parts.dropFirst(3).first == "registrations"
                ? "/v1/projects/{project}/registrations/{registration}/topicSubscriptions"
                : "/v1/projects/{project}/messages:send"
        case "fcm": return "/fcm/send"
        case "batch": return "/batch"
        case "--": return parts.last == "getReceipts" ? "/--/api/v2/push/getReceipts" : "/--/api/v2/push/send"
        default: return "/"
        }
    }
}

extension RequestTrace {
    /// Records the request's span. Call it once, when the reply is known.
    func finish(_ request: ProviderRequest, _ reply: ProviderReply) {
        guard isRecorded else { return }
        finish(request.method, route: request.route, status: reply.status)
    }
}
