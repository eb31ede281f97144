import HTTPTypes
import SignalboxConfig
import SignalboxJSON

/// Checks of configs.
extension Problem {
    /// A check that hangs ends when its file answers.
    static let checkBusy = Problem(
        .serviceUnavailable, "config-check-busy", title: "The config was not checked",
        "Another check is in progress, or a file that the config names does not answer: send it again later.",
        headers: [.retryAfter: "1"])

    /// For files next to the config. `hidesPath`: the operator may not read content.
    static func configUnreadable(_ refusal: ConfigRefusal, hidesPath: Bool) -> Problem {
        Problem(
            .conflict, "config-unreadable", title: "The config was not checked",
            (hidesPath ? nil : refusal.problems.first) ?? "The files of the config cannot be read.")
    }
}

/// Trials of patterns.
extension Problem {
    /// A mistake of the member `pattern` of a request. `body`: the request, for line and column. Without line and
    /// column if the body has no value at the pointer.
    static func pattern(_ mistake: ConfigMistake, in body: [UInt8]) -> Problem {
        let pointer = "/pattern" + mistake.pointer
        let place = JSONPosition(of: pointer, in: body).map { TextPosition(offset: $0.value.lowerBound, in: body) }
        return badPattern(mistake.message, at: pointer, place)
    }

    /// A body that is not JSON. Consoles send patterns while an operator types them.
    static func patternSyntax(_ error: JSONError, in body: [UInt8]) -> Problem {
        let mistake = ConfigMistake(error, file: 0, in: body, of: .pattern)
        return badPattern(mistake.message, at: "", mistake.position)
    }
}
