import Foundation
import SignalboxGateway
import SignalboxNotification
import Testing

@Suite struct RunIdentityTests {
    private let started = Date(timeIntervalSince1970: 1_795_210_140.123)
    private let key = [UInt8](repeating: 7, count: 32)

    /// The digest is OpenSSL's: `printf 'event:0:40' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707…` begins
    /// with 064107b17010bd96cb90968b74e49ffb; its second half is read as a number in the machine's byte order. The
    /// first 48 bits are the time, 1795210140123; the version follows. The fourth group begins with the bits 10.
    @Test func idsAreVersion7WithADigestOfThePosition() {
        let identity = RunIdentity(key: key, started: started)
        let id = identity.eventID(input: 0, offset: 40, recorded: nil).description
        #expect(id == "01a1fadc-d9db-7000-bb9f-e4748b9690cb")
        #expect(id == identity.eventID(input: 0, offset: 40, recorded: nil).description)
        #expect(RunIdentity(key: key, started: started).eventID(input: 0, offset: 40, recorded: nil).description == id)
        let later = identity.eventID(input: 0, offset: 5 << 20 | 7, recorded: nil).description
        #expect(later.hasPrefix("01a1fadc-d9db-7005-"), "five mebibytes on")
        #expect(identity.requestKey(input: 0, offset: 40) == "replay-7518c30c4ebc3b7fdc40c9eb97b6aaee")
    }

    @Test func otherPositionsRunsAndTimesHaveOtherIds() throws {
        let identity = RunIdentity(key: key, started: started)
        let other = RunIdentity(key: [UInt8](repeating: 8, count: 32), started: started)
        let time = try #require(Timestamp(milliseconds: 1_000_000_000_000))
        let ids = [
            identity.eventID(input: 0, offset: 40, recorded: nil),
            identity.eventID(input: 0, offset: 41, recorded: nil),
            identity.eventID(input: 1, offset: 40, recorded: nil), other.eventID(input: 0, offset: 40, recorded: nil),
            identity.eventID(input: 0, offset: 40, recorded: time),
        ]
        #expect(Set(ids).count == 5)
        #expect(ids[4].description.hasPrefix("00e8d4a5-1000-7"))
        #expect(identity.requestKey(input: 0, offset: 40) != identity.requestKey(input: 4, offset: 0))
        #expect(identity.requestKey(input: 0, offset: 40).utf8.allSatisfy { (0x21...0x7E).contains($0) })
    }
}
