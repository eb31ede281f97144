/// Objects that no other envelope recognises.
extension Arrival {
    /// Any other object: the body of a web push, in-app content. Detectors examine the object itself.
    func other() -> PlatformPayload {
        var checks = WellFormedness(of: self)
        checks.warnOfWrongAPS(in: self)
        return payload(.unknown, .other, layers: layer(.none), target: expoRecipients, warnings: checks.warnings)
    }
}
