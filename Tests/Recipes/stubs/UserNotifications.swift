// Declarations of Apple's framework that the documentation uses, so that Linux can check the types of its Swift code.
// Signatures: developer.apple.com/documentation/usernotifications

import Foundation

open class UNNotificationContent: NSObject, @unchecked Sendable {
    public var title: String { "" }
    public var userInfo: [AnyHashable: Any] { [:] }
}

open class UNNotificationRequest: NSObject, @unchecked Sendable {
    public var identifier: String { "" }
    public var content: UNNotificationContent { UNNotificationContent() }
}

open class UNNotificationServiceExtension: NSObject {
    open func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {}

    open func serviceExtensionTimeWillExpire() {}
}

public struct UNNotificationActionOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
    public static let authenticationRequired = UNNotificationActionOptions(rawValue: 1)
    public static let destructive = UNNotificationActionOptions(rawValue: 2)
    public static let foreground = UNNotificationActionOptions(rawValue: 4)
}

open class UNNotificationAction: NSObject, @unchecked Sendable {
    public convenience init(identifier: String, title: String, options: UNNotificationActionOptions = []) {
        self.init()
    }
}

open class UNTextInputNotificationAction: UNNotificationAction, @unchecked Sendable {
    public convenience init(
        identifier: String, title: String, options: UNNotificationActionOptions = [], textInputButtonTitle: String,
        textInputPlaceholder: String
    ) {
        self.init()
    }
}

public struct UNNotificationCategoryOptions: OptionSet, Sendable {
    public let rawValue: UInt
    public init(rawValue: UInt) { self.rawValue = rawValue }
}

open class UNNotificationCategory: NSObject, @unchecked Sendable {
    public var identifier: String { "" }

    public convenience init(
        identifier: String, actions: [UNNotificationAction], intentIdentifiers: [String],
        options: UNNotificationCategoryOptions = []
    ) {
        self.init()
    }
}

open class UNUserNotificationCenter: NSObject, @unchecked Sendable {
    public class func current() -> UNUserNotificationCenter { UNUserNotificationCenter() }
    public func notificationCategories() async -> Set<UNNotificationCategory> { [] }
    public func setNotificationCategories(_ categories: Set<UNNotificationCategory>) {}
}
