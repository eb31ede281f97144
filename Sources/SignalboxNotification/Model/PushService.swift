/// A push service that a provider endpoint stands for. A payload's ``Platform`` is a property of the payload instead: a
/// message to Expo's service is of no platform.
package enum PushService: String, Sendable, CaseIterable {
    case apns, fcm, expo
}
